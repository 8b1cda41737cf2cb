"""A mock provider for trying the examples without a key. Answers each request with a description of its size."""
import http.server, json, sys

class Provider(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = f"You sent {len(body['messages'])} messages and a system prompt of {len(body['system'])} blocks."
        usage = {"input_tokens": 12, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 900}
        reply = {"type": "message", "content": [{"type": "text", "text": text}], "usage": usage}
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0), Provider)
print(f"PROVIDER=http://127.0.0.1:{server.server_port}/v1/messages", flush=True)
server.serve_forever()
