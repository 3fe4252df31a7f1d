"""Secrets and answers leave a file before it is stored, and reading it afterwards gives the same."""

import json

import pytest

from bench_site.formats import read, redact
from bench_site.formats.secrets import is_secret_key, scrub_text
from tests.formats.shapes import as_bytes, every_shape, server_info, sglang, vllm, vllm_detailed

KEY = "sk-" + "Zq9" * 8


def same_reading(before: bytes, after: bytes) -> bool:
    """Whether the redacted copy reads like the file: the way a stored file is parsed again."""
    first = read(before)
    second = read(after, sha256=first.sha256)
    return [run.report for run in first.runs] == [run.report for run in second.runs]


@pytest.mark.parametrize("name", [name for name in every_shape() if "detailed" not in name])
def test_a_file_without_secrets_comes_back_byte_for_byte(name: str) -> None:
    data = as_bytes(every_shape()[name][1], indent=3)
    assert redact(data) == (data, [])


def test_the_servers_keys_go_and_their_paths_are_named() -> None:
    info = server_info(api_key=KEY, admin_api_key="hunter2", internal_states=[{"api_key": KEY}])
    data = as_bytes(sglang(), sglang(server_info=info), sglang())
    clean, removed = redact(data)
    assert KEY.encode() not in clean and b"hunter2" not in clean
    assert removed == [
        "[1].server_info.admin_api_key",
        "[1].server_info.api_key",
        "[1].server_info.internal_states[0].api_key",
    ]
    assert read(data).secrets == removed, "what the reading announces is what is taken out"
    assert clean.split(b"\n")[0] == data.split(b"\n")[0], "lines without a secret stay byte for byte"
    assert b"Infinity" in clean and same_reading(data, clean)
    assert redact(data) == (clean, removed) and redact(clean) == (clean, [])


def test_answers_go_but_whether_one_was_empty_stays() -> None:
    data = as_bytes(vllm_detailed())
    clean, removed = redact(data)
    assert removed == ["generated_texts"] and b"words" not in clean
    assert json.loads(clean)["generated_texts"].count("") == 1
    assert same_reading(data, clean)


def test_keys_without_a_value_and_tokens_that_are_numbers_stay() -> None:
    record = vllm(
        api_key=None, token="", headers={}, password="none", max_tokens=5, eos_token="</s>", seconds_per_token=1
    )
    assert redact(as_bytes(record))[1] == []


@pytest.mark.parametrize(
    "value",
    [
        f"vllm bench serve --api-key {KEY} --model x",
        "run --openai-api-key=Zq9Zq9 --x",
        "curl -H 'Authorization: Bearer Zq9Zq9Zq9'",
        "curl -H 'Authorization: Token Zq9Zq9Zq9'",
        "curl -H 'Cookie: sid=Zq9Zq9Zq9'",
        "serve --api-key \\\n    Zq9Zq9Zq9 --model x",
        "AWS_SECRET_ACCESS_KEY=Zq9Zq9Zq9 bench",
        "PGPASSWORD=Zq9Zq9Zq9 bench",
        "bench http://host/v1?token=Zq9Zq9Zq9&n=5",
        "redis://:Zq9Zq9@host/0",
        "push fb_abcdefghij_Zq9Zq9Zq9Zq9Zq9Zq9Zq9Zq9",
        "eyJhbGciOiJIUzI1NiJ9.eyJZq9Zq9Zq9.Zq9Zq9",
        "nvapi-Zq9Zq9Zq9Zq9Zq9Zq9",
        'curl -H "authorization: Bearer Zq9Zq9Zq9"',
        "HF_TOKEN=Zq9Zq9Zq9 vllm serve",
        "Namespace(api_key='Zq9Zq9Zq9', port=8000)",
        "https://me:Zq9Zq9Zq9@host/v1",
        "Incorrect API key provided: " + KEY,
        ["serve", "--api-key", "Zq9Zq9Zq9", "--port", "8000"],
        {"Authorization": "Bearer Zq9Zq9Zq9"},
        {"headers": {"x-custom": "Zq9Zq9Zq9"}},
        {"deep": [{"wandb_api_key": "Zq9Zq9Zq9"}]},
    ],
)
def test_secrets_inside_texts_lists_and_objects(value: object) -> None:
    clean, removed = redact(as_bytes(vllm(note=value)))
    assert b"Zq9" not in clean and len(removed) == 1
    assert json.loads(clean)["model_id"] == "acme/tiny-7b"


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8000/v1",
        "--max-new-tokens 5 --tokenizer x",
        "--token 4096",
        "time per output token: 5 ms",
        "a - b",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert scrub_text(text) == text


def test_names_that_are_secret_and_names_that_only_sound_so() -> None:
    for key in ("api_key", "API-Key", "swanlab_api_key", "ssl_keyfile_password", "Headers", "hf_token"):
        assert is_secret_key(key)
    for key in ("max_tokens", "bos_token", "time_per_output_token", "tokenizer_metrics_custom_labels_header", "key"):
        assert not is_secret_key(key)


def test_what_stands_beside_the_records_is_cleaned_too() -> None:
    line = f'{{"backend": "x", "api_key": "{KEY}", "cut'
    data = f"server started with --api-key {KEY}\n".encode() + as_bytes(sglang(), sglang()) + f"\n{line}".encode()
    clean, removed = redact(data)
    assert KEY.encode() not in clean and removed == ["text beside the records"]
    assert same_reading(data, clean)


def test_the_unfinished_element_of_a_cut_off_array_goes() -> None:
    data = json.dumps([vllm(), vllm(), vllm(api_key=KEY, zzz=1)], indent=1).encode()[:-12]
    assert KEY.encode() in data
    clean, removed = redact(data)
    assert KEY.encode() not in clean and removed
    assert len(read(data).runs) == 2 and same_reading(data, clean)


def test_a_text_file_is_cleaned_line_by_line_and_an_unreadable_one_is_not_kept() -> None:
    clean, _ = redact(f"ServeCommand(api_key='{KEY}', host='a')\nSuccessful requests: 5\n".encode())
    assert KEY.encode() not in clean and b"Successful requests: 5" in clean
    assert redact(b"\xff\xfe\x00")[0] == b""


def test_unicode_stays_and_a_lone_surrogate_is_kept_as_an_escape() -> None:
    data = json.dumps(vllm(label="你好", api_key=KEY), ensure_ascii=False).encode()
    assert "你好".encode() in redact(data)[0]
    data = json.dumps(vllm(label="\ud83d", api_key=KEY)).encode()
    assert b"\\ud83d" in redact(data)[0]
