"""`s2s bench conversation`: how a conversation feels, from its recording and its events.

A scripted person asks, pauses within sentences, says backchannels, and interrupts. The models are
scripted too (simulated time, always the same), or the real embedded ones: then they run in
simulated time as well, and what each call really took is added to the clock.
"""
