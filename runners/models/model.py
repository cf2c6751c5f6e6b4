"""A model, as a run calls it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from runners.providers.base import MAX_REPLY_MIB, Request


@dataclass(frozen=True, slots=True)
class Model:
    """A model as a run calls it.

    Attributes:
        name: name of the model, as the provider knows it.
        provider: name of the provider, a key of `PROVIDERS`.
        parameters: sampling parameters such as temperature, and `thinking_level`.
        base_url: address of the provider; None for its default.
        api_key_env: variable with the key for this address, or `none`; None if no file names one.
        price: US dollars per token, `input` and `output`; None if the file has none.
        path: `models/<file>`; None if there is no file.
        skip: whether `--model ALL` leaves it out.
        max_reply_mib: limit of a reply's size, in MiB.
    """

    name: str
    provider: str
    _: KW_ONLY
    parameters: dict[str, object] = field(default_factory=dict)
    base_url: str | None = None
    api_key_env: str | None = None
    price: dict[str, float] | None = None
    path: str | None = None
    skip: bool = False
    max_reply_mib: float = MAX_REPLY_MIB

    @property
    def max_reply_bytes(self) -> int:
        """The limit of a reply's size, in bytes."""
        return int(self.max_reply_mib * 2**20)

    @property
    def thinking_level(self) -> str | None:
        """The requested thinking level; None for the model's default."""
        level = self.parameters.get("thinking_level")
        return level if isinstance(level, str) else None

    @property
    def sampling(self) -> dict[str, object]:
        """The parameters without the thinking level, which each provider translates itself."""
        return {k: v for k, v in self.parameters.items() if k != "thinking_level"}

    def request(self, prompt: str, *, task_id: str, attempt: int) -> Request:
        """Return a call of the model."""
        return Request(
            self.name,
            prompt,
            task_id=task_id,
            attempt=attempt,
            parameters=self.sampling,
            thinking_level=self.thinking_level,
            base_url=self.base_url,
            api_key_env=self.api_key_env,
            price=self.price,
            max_reply_bytes=self.max_reply_bytes,
        )
