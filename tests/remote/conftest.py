import pytest
from remote_cases import request


@pytest.fixture
def server(monkeypatch):
    """A server with an empty bucket; yields its host and port."""
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    where = "{}:{}".format(*running.get_host_and_port())
    for name, value in {
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "planted-secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{where}",
    }.items():
        monkeypatch.setenv(name, value)
    for path, method in (("moto-api/reset", "POST"), ("bucket", "PUT")):
        request(f"http://{where}/{path}", method)
    yield where
    running.stop()
