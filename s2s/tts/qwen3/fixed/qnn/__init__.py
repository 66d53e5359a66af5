"""Qualcomm's Hexagon processor (HTP) by onnxruntime-qnn, a plug-in of ONNX Runtime."""
