"""The portal's HTTP interface, which is not documented: nobody promised it, and nobody permitted to automate it.

Nothing here runs unless a person asks for it by name. The token comes from the environment alone and is neither
logged nor kept; it goes to one host, never after a redirection, and over plain HTTP only to this machine.
"""

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from leaderboard.public_board import first_of
from tasks.errors import TaskError

if TYPE_CHECKING:
    import requests

TOKEN_VARIABLE = "KERNELARC_PORTAL_TOKEN"
WARNING = (
    "warning: this talks to an interface that the portal does not document. It may change or be forbidden; you "
    "answer for it to the portal. The sanctioned way is the web form."
)
_SECONDS = 30.0
_LARGEST_REPLY = 8 << 20


class Portal:
    """One portal with one token. Every method raises `TaskError` in one sentence, without the token in it."""

    def __init__(self, url: str, token: str) -> None:
        _check_address(url)
        if not token or not token.isascii() or any(c.isspace() for c in token):
            raise TaskError("holds no token", field=f"${TOKEN_VARIABLE}", mend="set it to the portal's token")
        self._url, self._token = url.rstrip("/"), token

    def upload(self, file: Path, kernel_id: str, gpu: str, mode: Literal["private", "release"]) -> str:
        """Send `file`; what the portal calls the submission."""
        fields = {"kernel_id": kernel_id, "gpu_type": gpu, "submission_mode": mode}
        with file.open("rb") as content:
            reply = self._ask(
                "POST",
                "/api/submissions/upload",
                data=fields,
                files={"file": (file.name, content, "application/json")},
            )
        number = first_of(reply, ("submission_id", "submissionId", "id"))
        if number is None:
            raise TaskError(
                "answered without a number", field="upload", mend="look at the portal before sending again"
            )
        return str(number)

    def result(self, portal_id: str) -> dict[str, Any]:
        """What the portal says of a submission now."""
        if not portal_id.replace("-", "").isalnum():
            raise TaskError(f"{portal_id!r} is no number of the portal's", field="portal_id")
        return {"id": portal_id, **self._ask("GET", f"/api/submissions/{portal_id}")}

    def _ask(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        requests = _library()
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        try:
            with requests.request(
                method, self._url + path, headers=headers, timeout=_SECONDS, allow_redirects=False, stream=True,
                **content,
            ) as reply:  # fmt: skip
                return _read(reply, path)
        except requests.RequestException as error:
            problem = f"no answer from the portal ({type(error).__name__})"
            raise TaskError(problem, field=path, mend="look at the portal before sending again") from None


def _read(reply: "requests.Response", path: str) -> dict[str, Any]:
    import json

    body = reply.raw.read(_LARGEST_REPLY, decode_content=True)
    if reply.status_code == 401 or reply.status_code == 403:
        raise TaskError("the portal refuses the token", field=f"${TOKEN_VARIABLE}", mend="get a new one")
    if reply.status_code == 429:
        raise TaskError("the portal's quota is used up", field=path, mend="see `kernelarc desk plan`")
    if not 200 <= reply.status_code < 300:
        raise TaskError(f"the portal answered {reply.status_code}", field=path, mend="use the web form")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise TaskError("the portal answered no JSON object", field=path, mend="use the web form")
    return content


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname and not parts.username:
        return
    if parts.scheme == "http" and parts.hostname and _is_here(parts.hostname):
        return
    raise TaskError("is no https address", field="--url", mend="a token never travels in plain text")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _library() -> Any:
    try:
        import requests
    except ImportError:
        raise TaskError(
            "needs requests, which is not installed", mend="pip install 'kernelarc[portal]'"
        ) from None
    return requests
