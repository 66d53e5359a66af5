"""A Wyoming satellite: microphone and loudspeaker of this machine for Home Assistant."""
