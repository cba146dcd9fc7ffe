"""A Python client that openapi-python-client makes of a running daemon's own document."""
import importlib
import pkgutil
import subprocess
import sys
import typing
from pathlib import Path

import httpx

HERE = Path(__file__).resolve().parent


class GeneratedClient:
    """`client.call("robot.get_robot")` calls an operation with the daemon's admin token and returns what it parsed."""

    def __init__(self, daemon, folder, package):
        """Fails if the generator warns of anything. `package` is another for each client: modules of one name are imported once."""
        made = subprocess.run(
            [Path(sys.executable).parent / "openapi-python-client", "generate", "--url", daemon.url + "/api/openapi.json",
             "--config", HERE / "openapi-python-client.yaml", "--meta", "none", "--output-path", folder / package,
             "--fail-on-warning"], capture_output=True, text=True, timeout=600)
        assert made.returncode == 0, made.stdout + made.stderr
        assert "arning" not in made.stdout + made.stderr, made.stdout + made.stderr
        self.package = package
        sys.path.insert(0, str(folder))
        try:
            root = importlib.import_module(package)
            self.modules = [
                importlib.import_module(found.name) for found in pkgutil.walk_packages(root.__path__, package + ".")]
        finally:
            sys.path.remove(str(folder))
        self.models = importlib.import_module(package + ".models")
        self.session = root.AuthenticatedClient(base_url=daemon.url, token=daemon.admin, raise_on_unexpected_status=True, timeout=httpx.Timeout(60))

    def call(self, operation, **arguments):
        """`operation` is a tag and the operation's name. A `body` of plain values becomes the model that the operation takes."""
        module = importlib.import_module(f"{self.package}.api.{operation}")
        if isinstance(arguments.get("body"), dict):
            arguments["body"] = self.model(module).from_dict(arguments["body"])
        answer = module.sync_detailed(client=self.session, **arguments)
        assert 200 <= answer.status_code < 300, (operation, answer)
        return answer.parsed

    @staticmethod
    def model(module):
        """The class of an operation's body; where it may be left out, too."""
        kind = module.sync_detailed.__annotations__["body"]
        return next(one for one in typing.get_args(kind) or [kind] if hasattr(one, "from_dict"))
