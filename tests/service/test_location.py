"""Where agents are kept, as text: no message shows a password."""

import pytest

import ironarm as ia
from ironarm.service.location import StoreLocation

psycopg = pytest.importorskip("psycopg")
from ironarm.service.postgres import PostgresStore  # noqa: E402


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr%zzet@127.0.0.1:1/db",
        "postgresql://u:s3cr%@127.0.0.1:1/db",
        "postgresql://u:s3cr@s3cr@127.0.0.1:1/db",
        "postgresql://u:12/s3cr@127.0.0.1:1/db",
        "postgresql://u:12#s3cr@127.0.0.1:1/db",
        "postgresql://u:12?s3cr@127.0.0.1:1/db",
        "postgresql://u:s3cr/x@127.0.0.1:1/db",
        "postgresql://u:[s3cr@127.0.0.1:1/db",
        "postgresql://u@127.0.0.1:1/db?password=s3cr%zz",
        "postgresql://u@127.0.0.1:1/db?passwort=s3cr",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(url):
    """One sentence says how to write it; nobody shows a part of it."""
    place = StoreLocation(database=url)
    for fails in (place.open, lambda: str(place)):
        with pytest.raises(ia.InvalidInput, match="an address such as") as error:
            fails()
        assert "s3cr" not in str(error.value)
        assert error.value.__suppress_context__ or error.value.__context__ is None


@pytest.mark.parametrize(
    "text",
    ["postgresql:/u:s3cr@h/x", "postgresql+psycopg://u:s3cr@h/x", "POSTGRESQL://u:s3cr@h/x"],
)
def test_what_is_nearly_an_address_is_not_taken_for_a_folder(text):
    """Its name would be printed."""
    with pytest.raises(ia.InvalidInput, match="an address such as") as error:
        StoreLocation.of(text)
    assert "s3cr" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:s3cr%2Fx@h:5/db", "postgresql://h:5/db"),
        ("postgresql://u@h/db?password=s3cr", "postgresql://h/db"),
        ("postgres://u:s3cr@[::1]:5/db?sslmode=require", "postgresql://::1:5/db"),
        ("postgresql:///db?host=/tmp", "postgresql:///db"),
    ],
)
def test_a_good_address_is_shown_without_its_password(url, shown):
    """Wherever it stands."""
    assert str(StoreLocation(database=url)) == shown


def test_the_drivers_words_are_shown_without_the_password(monkeypatch):
    """Whatever it says."""

    def connect(url, **options):
        raise psycopg.OperationalError(f"cannot connect to {url}, with s3cr/x")

    monkeypatch.setattr(psycopg, "connect", connect)
    with pytest.raises(ia.StoreError, match="cannot connect to") as error:
        PostgresStore.open("postgresql://u:s3cr%2Fx@h:5/db")
    assert "s3cr/x" not in str(error.value)
    assert "s3cr" not in str(error.value)
