"""Which keys a model needs that litellm reaches, and which addresses are its vendor's own.

All this without importing litellm: that takes seconds.

The table holds what `litellm.validate_environment` asks for, apart from addresses, which have
defaults; a test compares the two. For a vendor that is in litellm's data but not in the table,
litellm itself has to be asked.
"""

from __future__ import annotations

import os
from functools import cache
from urllib.parse import urlsplit

from runners.models.prices import litellm_data, price_table

# Vendors whose key is `<VENDOR>_API_KEY`.
_NAMED_AFTER_VENDOR = {
    "ai21", "baseten", "cerebras", "cloudflare", "codestral", "cohere", "dashscope", "deepinfra",
    "deepseek", "edenai", "featherless_ai", "groq", "huggingface", "inception", "infinity",
    "mistral", "modelscope", "moonshot", "nadir", "nebius", "nlp_cloud", "novita", "nvidia_nim",
    "openai", "openrouter", "replicate", "tencent", "vercel_ai_gateway", "volcengine", "voyage",
    "wandb", "xai",
}  # fmt: skip
_AWS = "AWS_PROFILE|AWS_ROLE_ARN|AWS_WEB_IDENTITY_TOKEN_FILE"
_AWS += "|AWS_CONTAINER_CREDENTIALS_RELATIVE_URI|AWS_CONTAINER_CREDENTIALS_FULL_URI"
_AWS_KEYS = (f"AWS_ACCESS_KEY_ID|{_AWS}", f"AWS_SECRET_ACCESS_KEY|{_AWS}")
# All variables that the other vendors need; with `A|B`, either will do.
_OTHERS: dict[str, tuple[str, ...]] = {
    "ai21_chat": ("AI21_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY|ANTHROPIC_AUTH_TOKEN",),
    "azure": ("AZURE_API_VERSION", "AZURE_API_KEY"),
    "bedrock": _AWS_KEYS,
    "datarobot": ("DATAROBOT_API_TOKEN",),
    "fireworks_ai": (
        "FIREWORKS_AI_API_KEY|FIREWORKS_API_KEY|FIREWORKSAI_API_KEY|FIREWORKS_AI_TOKEN",
    ),
    "gemini": ("GEMINI_API_KEY|GOOGLE_API_KEY",),
    "hosted_vllm": (),
    "llamafile": (),
    "lm_studio": (),
    "ollama": (),
    "ollama_chat": (),
    "perplexity": ("PERPLEXITYAI_API_KEY",),
    "qwen_ai_platform": ("QWEN_AI_PLATFORM_API_KEY|DASHSCOPE_API_KEY",),
    "qwencloud": ("QWENCLOUD_API_KEY|DASHSCOPE_API_KEY",),
    "sagemaker": _AWS_KEYS,
    "text-completion-codestral": ("CODESTRAL_API_KEY",),
    "text-completion-inception": ("INCEPTION_API_KEY",),
    "together_ai": ("TOGETHERAI_API_KEY",),
    "vertex_ai": ("VERTEXAI_PROJECT", "VERTEXAI_LOCATION"),
}
# Servers of one's own, each with a key of its own if any: no vendor has an address for them.
OWN_SERVERS = {
    "docker_model_runner", "hosted_vllm", "lemonade", "litellm_proxy", "llamafile", "lm_studio",
    "ollama", "ollama_chat", "xinference",
}  # fmt: skip
# Vendors' own servers are in these domains. A vendor that is not here has none that we know of.
_DOMAINS: dict[str, tuple[str, ...]] = {
    "anthropic": ("anthropic.com",),
    "azure": ("openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"),
    "bedrock": ("amazonaws.com",),
    "cerebras": ("cerebras.ai",),
    "cohere": ("cohere.com", "cohere.ai"),
    "dashscope": ("aliyuncs.com",),
    "deepinfra": ("deepinfra.com",),
    "deepseek": ("deepseek.com",),
    "fireworks_ai": ("fireworks.ai",),
    "gemini": ("googleapis.com",),
    "groq": ("groq.com",),
    "huggingface": ("huggingface.co", "huggingface.cloud"),
    "mistral": ("mistral.ai",),
    "moonshot": ("moonshot.ai", "moonshot.cn"),
    "nvidia_nim": ("api.nvidia.com",),
    "openai": ("openai.com",),
    "openrouter": ("openrouter.ai",),
    "perplexity": ("perplexity.ai",),
    "sagemaker": ("amazonaws.com",),
    "together_ai": ("together.xyz", "together.ai"),
    "vertex_ai": ("googleapis.com",),
    "xai": ("x.ai",),
}
# litellm's data do not list these.
_UNLISTED = {
    "a2a_agent", "aiohttp_openai", "aws_textract", "azure_speech", "dotprompt", "gdc", "humanloop",
    "langflow", "langfuse", "litellm_agent", "mongodb", "nvidia_riva", "sagemaker_nova", "valkey",
    "vertex_ai_beta",
}  # fmt: skip


def vendor_of(model: str) -> str | None:
    """Return a model's vendor, if `missing_keys` knows its keys; otherwise None."""
    prefix, slash, _ = model.partition("/")
    if os.environ.get("USE_LITELLM_PROXY"):
        return None
    if slash:
        return prefix if prefix in _NAMED_AFTER_VENDOR or prefix in _OTHERS else None
    entry = price_table().get(model, {})
    return "openai" if entry.get("litellm_provider") == "openai" else None


def is_unknown(model: str) -> bool:
    """Return whether litellm certainly does not know a model's vendor."""
    prefix, slash, _ = model.partition("/")
    # Names without a vendor, and those with a colon, may follow rules of litellm's own.
    is_plain = bool(slash) and ":" not in model and not os.environ.get("USE_LITELLM_PROXY")
    return is_plain and prefix not in _listed_vendors() and model not in price_table()


def missing_keys(vendor: str) -> list[str]:
    """Return the variables that a vendor of `vendor_of` needs and that are not set."""
    own_key = f"{vendor.upper()}_API_KEY"
    needed = (own_key,) if vendor in _NAMED_AFTER_VENDOR else _OTHERS[vendor]
    alternatives = [names.split("|") for names in needed]
    return [names[0] for names in alternatives if not any(map(os.environ.get, names))]


def vendor_of_key(variable: str) -> str | None:
    """Return the vendor whose key a variable holds by its name; None for any other variable."""
    for vendor, names in _OTHERS.items():
        if any(variable in alternatives.split("|") for alternatives in names):
            return vendor
    vendor = variable.removesuffix("_API_KEY").lower()
    is_named_after = variable == f"{vendor.upper()}_API_KEY" and vendor in _NAMED_AFTER_VENDOR
    return vendor if is_named_after else None


def is_own_address(vendor: str, url: str) -> bool:
    """Return whether an address is one of a vendor's own, over HTTPS."""
    parts = urlsplit(url)
    host = f".{(parts.hostname or '').rstrip('.')}"
    domains = _DOMAINS.get(vendor, ())
    return parts.scheme == "https" and any(host.endswith(f".{domain}") for domain in domains)


@cache
def _listed_vendors() -> frozenset[str]:
    supported = litellm_data("provider_endpoints_support_backup.json").get("providers")
    compatible = litellm_data("llms/openai_like/providers.json")
    priced = (str(entry.get("litellm_provider")) for entry in price_table().values())
    names = {*_UNLISTED, *_NAMED_AFTER_VENDOR, *_OTHERS, *compatible, *priced}
    return frozenset(names.union(supported if isinstance(supported, dict) else ()))
