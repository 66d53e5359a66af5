"""What this machine is and gives: processor, sessions of ONNX Runtime, locks, memory, HTTP."""
