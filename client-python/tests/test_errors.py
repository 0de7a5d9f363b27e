from __future__ import annotations

import builtins
import pickle
import shutil
import sys
import time
import traceback
from pathlib import Path

import data
import pytest
from proxy import Proxy
from service import Account, Service, free_port

import wayleave


@pytest.fixture(scope="module")
def account(service: Service) -> Account:
    return Account(service, "ada@example.org")


def impatient(url: str, key: str) -> wayleave.Client:
    return wayleave.Client(key, url, max_retries=0)


def test_400_names_the_wrong_value(client: wayleave.Client) -> None:
    with pytest.raises(wayleave.BadRequestError) as caught:
        next(client.items("many", limit=0))
    assert (caught.value.status, caught.value.code) == (400, "invalid-input")
    assert caught.value.errors[0]["path"] == "limit"
    assert caught.value.request_id
    assert caught.value.request_id in str(caught.value)
    with pytest.raises(wayleave.BadRequestError, match="invalid-filter"):
        next(client.items("many", filter="number <"))


@pytest.mark.parametrize("key", ["svc_live_00000000000000000000000000000000", "nonsense"])
def test_401_for_an_unknown_key(service: Service, key: str) -> None:
    with impatient(service.url, key) as client, pytest.raises(wayleave.AuthenticationError) as caught:
        client.download("places", "csv")
    assert (caught.value.status, caught.value.code) == (401, "key-invalid")


def test_401_for_a_key_that_has_expired(account: Account) -> None:
    key = account.key(seconds=0.5)
    time.sleep(0.6)
    with impatient(account.service.url, key) as client, pytest.raises(wayleave.AuthenticationError):
        client.read("places")
    with impatient(account.service.url, account.key()) as client:
        assert len(client.datasets()) > 0


def test_403_names_the_add_on_and_402_comes_without_credits(account: Account, folder: Path) -> None:
    with impatient(account.service.url, account.key()) as client:
        with pytest.raises(wayleave.PermissionDeniedError, match="API_ACCESS") as denied:
            client.read("places")
        assert (denied.value.status, denied.value.code) == (403, "add-on-missing")
        with pytest.raises(wayleave.PermissionDeniedError, match="GIS_ACCESS"):
            next(client.items("places"))
        assert len(client.sample("places")) == 20
        account.grant("API_ACCESS", "ARCHIVED_DATA")
        with pytest.raises(wayleave.PaymentRequiredError) as unpaid:
            client.download("places", "csv")
        assert (unpaid.value.status, unpaid.value.code) == (402, "credits-exhausted")
        assert list(folder.iterdir()) == []
        account.grant("API_ACCESS", credits=2)
        assert client.download("places", "csv").exists()


def test_404_for_what_is_not_there(client: wayleave.Client) -> None:
    for absent in (
        lambda: client.dataset("nothing"),
        lambda: client.dataset("../datasets"),
        lambda: client.dataset(".."),
        lambda: client.sample("nothing"),
        lambda: client.read("nothing"),
        lambda: client.download("places", "docx"),
        lambda: client.download("places", "csv", version=99),
        lambda: next(client.items("nothing")),
    ):
        with pytest.raises(wayleave.NotFoundError) as caught:
            absent()
        assert caught.value.status == 404


def test_409_for_an_export_that_cannot_be_made(
    service: Service, client: wayleave.Client, folder: Path
) -> None:
    service.publish("wide", data.wide(folder / "wide.geojson"))
    with pytest.raises(wayleave.ConflictError) as caught:
        client.download("wide", "shp")
    assert (caught.value.status, caught.value.code) == (409, "export-impossible")


def test_data_that_is_missing_is_a_server_error(service: Service, key: str, folder: Path) -> None:
    service.publish("broken", data.many(folder / "broken.geojson", 10))
    for snapshot in (service.data_dir / "snapshots").glob("broken_*"):
        shutil.rmtree(snapshot)
    with wayleave.Client(key, service.url, sleep=lambda _: None) as client:
        with pytest.raises(wayleave.ServerError) as caught:
            client.sample("broken")
        assert (caught.value.status, caught.value.code) == (503, "storage-unavailable")


def test_a_service_that_is_not_there_is_a_connection_error(key: str) -> None:
    with impatient(f"http://127.0.0.1:{free_port()}", key) as client:
        with pytest.raises(wayleave.ConnectionError) as caught:
            client.datasets()
        assert isinstance(caught.value, builtins.ConnectionError)
        assert "127.0.0.1" in str(caught.value)


def test_a_service_that_never_answers_is_a_timeout(proxy: Proxy, key: str) -> None:
    proxy.stalls = 1
    with impatient(proxy.url, key) as client:
        with pytest.raises(wayleave.TimeoutError) as caught:
            client.datasets(timeout=0.2)
        assert isinstance(caught.value, builtins.TimeoutError)
        assert len(client.datasets()) > 0


def test_a_response_of_something_else_than_the_service_says_so(service: Service, key: str) -> None:
    with impatient(service.url + "/health?", key) as client:
        for call in (client.datasets, lambda: client.dataset("places"), lambda: next(client.items("places"))):
            with pytest.raises(wayleave.WayleaveError, match="not from a Wayleave service"):
                call()


def test_the_classes_are_those_of_the_statuses() -> None:
    from wayleave._errors import error_of
    from wayleave._http.steps import Response

    named = {
        400: wayleave.BadRequestError,
        401: wayleave.AuthenticationError,
        402: wayleave.PaymentRequiredError,
        403: wayleave.PermissionDeniedError,
        404: wayleave.NotFoundError,
        409: wayleave.ConflictError,
        413: wayleave.APIStatusError,
        429: wayleave.RateLimitError,
        500: wayleave.ServerError,
        503: wayleave.ServerError,
    }
    for status, kind in named.items():
        error = error_of(Response(status, {"x-request-id": "r1"}, b"<html>"), None)
        assert type(error) is kind
        assert isinstance(error, wayleave.APIStatusError)
        assert (error.status, error.request_id) == (status, "r1")
    redirect = error_of(Response(301, {"location": "https://elsewhere"}, b""), None)
    assert "https://elsewhere" in str(redirect)
    assert error_of(Response(200, {}, b""), None) is None


def test_an_error_can_be_sent_to_another_process() -> None:
    error = wayleave.RateLimitError(429, "rate-limited", "Too many.", "r1", [], "mailto:a@b", 3.0)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is wayleave.RateLimitError
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_the_key_is_in_no_message_repr_or_traceback(service: Service, proxy: Proxy) -> None:
    key = "svc_live_Zq7WmPk2VtXr9LcNb4YhDs6GfJ3aEu1T"
    texts = []
    for url in (service.url, proxy.url, f"http://127.0.0.1:{free_port()}"):
        proxy.cuts = [1, 1]
        with impatient(url, key) as client:
            for call in (lambda: client.read("places"), lambda: client.items("places").read()):
                with pytest.raises(wayleave.WayleaveError) as caught:
                    call()
                error = caught.value
                shown = traceback.TracebackException(*caught._excinfo, capture_locals=True)
                texts += [str(error), repr(error), repr(error.args), repr(vars(error))]
                ours = [frame for frame in shown.stack if "/src/wayleave/" in frame.filename]
                texts += [text for frame in ours for text in (frame.locals or {}).values()]
            texts += [repr(client), repr(client._settings), repr(client.items("places"))]
    assert len(texts) > 40
    assert [text for text in texts if key in text] == []


def test_errors_are_public_and_documented() -> None:
    for name in wayleave.__all__:
        assert getattr(wayleave, name) is not None
        assert name in ("Feature", "Progress", "__version__") or getattr(wayleave, name).__doc__
    assert sys.modules["wayleave"].__doc__
