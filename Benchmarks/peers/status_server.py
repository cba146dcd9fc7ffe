"""status_server.py PORT DOCUMENT dict|bytes: FastAPI on uvicorn, uvloop and httptools, answering GET /api/status.

dict: the document as a dict through JSONResponse, as one writes it; bytes: the same document made ready beforehand.
"""
import json
import sys

import uvicorn
from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse

port, path, kind = sys.argv[1:]
with open(path, "rb") as file:
    prepared = file.read()
document = json.loads(prepared)
app = FastAPI(openapi_url=None)

if kind == "dict":

    @app.get("/api/status", response_class=JSONResponse)
    async def status():
        return JSONResponse(document)

else:

    @app.get("/api/status")
    async def status():
        return Response(prepared, media_type="application/json")


uvicorn.run(
    app, host="127.0.0.1", port=int(port), workers=1, loop="uvloop", http="httptools", access_log=False,
    log_level="warning")
