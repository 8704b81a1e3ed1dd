"""Sends the uploads on stdin with the library in argv[1] and prints the status of each response."""

import json
import sys
import urllib.error
import urllib.request

library = sys.argv[1]
chunk = b" " * 65536


def chunks(size):
    for sent in range(0, size, len(chunk)):
        yield chunk[: size - sent]


def with_urllib(method, url, headers, body):
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        return urllib.request.urlopen(request, timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code


def with_requests(method, url, headers, body):
    import requests

    return requests.request(method, url, headers=headers, data=body, timeout=60).status_code


def with_httpx(method, url, headers, body):
    import httpx

    return httpx.request(method, url, headers=headers, content=body, timeout=60).status_code


send = {"urllib": with_urllib, "requests": with_requests, "httpx": with_httpx}[library]
for upload in json.load(sys.stdin):
    size = upload["bytes"]
    body = chunks(size) if upload["chunked"] else b" " * size
    headers = upload["headers"]
    if upload["chunked"] and library == "urllib":
        headers = {**headers, "Transfer-Encoding": "chunked"}
    try:
        print(send(upload["method"], upload["url"], headers, body))
    except Exception as error:
        print(repr(error))
