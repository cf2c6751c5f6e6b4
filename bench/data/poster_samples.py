"""Realistic posters, and predictions with typical mistakes of models."""

import json
import random
from typing import Any

POSTERS, EVENTS = 60, 10
WRONG_YEARS, SHUFFLED = 0.05, 0.1
KEPT = ("date", "time", "country", "status", "confidence")
VENUES = (
    "โรงเบียร์ตะวันแดง", "ตะวันแดงสาดแสงเดือน", "The Street Ratchada", "หอประชุมใหญ่ (อาคาร 3)",
    "ลานคนเมือง", "มหาวิทยาลัยขอนแก่น", "MUSIC HALL", "ร้านนั่งเล่น", "สนามกีฬากลางจังหวัด",
    "Impact Arena, Muang Thong Thani", "ถนนคนเดินเชียงคาน", "เซ็นทรัล เวสต์เกต", "U-Bar Udon",
    "ตลาดนัดรถไฟ ศรีนครินทร์", "วัดพระธาตุ", "Route 66 Club", "งานกาชาดประจำปี", "Phuket Simon",
)  # fmt: skip
CITIES = (
    "เมืองขอนแก่น", "หัวหิน", "ศรีราชา", "บางกะปิ", "Hat Yai", "Pattaya", "ปากช่อง", "แม่สาย",
    "Mueang Udon Thani", "สันทราย", "วารินชำราบ", "อำเภอเมือง", "เกาะสมุย", "Bang Rak",
)  # fmt: skip
PROVINCES = (
    "กรุงเทพมหานคร", "ขอนแก่น", "เชียงใหม่", "ชลบุรี", "สงขลา", "ประจวบคีรีขันธ์", "อุดรธานี",
    "นครราชสีมา", "Phuket", "Chiang Rai", "อุบลราชธานี", "สุราษฎร์ธานี", "เลย", "ระยอง",
)  # fmt: skip
NAMES = ("งานกาชาด", "เคานต์ดาวน์ 2026", "Full Band", "มินิคอนเสิร์ต", "Private Event", None, None)
TICKETS = ("โทร 081-234-5678", "บัตร 300 บาท", "Free entry", "จองโต๊ะ @line", "ทางเพจ", None, None)
ARTISTS = ("Bodyslam", "ลาบานูน", "Three Man Down", "ไมค์ ภิรมย์พร", "ตั๊กแตน ชลดา", "Tilly Birds")


def make_batch(rng: random.Random, models: int) -> tuple[list[str], list[str]]:
    """Return gold records and predictions as JSON, one row per model and poster."""
    golds = [make_gold(rng) for _ in range(POSTERS)]
    skills = [rng.uniform(0.02, 0.4) for _ in range(models)]
    predictions = [predict(rng, gold, 1 - skill) for skill in skills for gold in golds]
    return [as_json(gold) for gold in golds] * models, [as_json(p) for p in predictions]


def as_json(value: object) -> str:
    """Return JSON formatted like the benchmark's files."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def make_gold(rng: random.Random) -> dict[str, Any]:
    """Return the record of a poster for a tour of one month."""
    month = f"2026-{rng.randint(1, 12):02}"
    days = sorted([*rng.sample(range(1, 29), EVENTS - 1), rng.randint(1, 28)])
    return {
        "artist_name": rng.choice(ARTISTS),
        "instagram_handle": rng.choice(["@bodyslamband", "labanoon.official", None]),
        "tour_name": rng.choice(["ปฏิทินงานเดือนนี้", "HOME TOUR 2026", "คอนเสิร์ตสัญจร", None]),
        "contact_info": rng.choice(["คุณเอ 081-999-9999 / คุณบี 089-111-2222", "Line: @booking"]),
        "source_month": month,
        "poster_confidence": 0.9,
        "events": [make_event(rng, f"{month}-{day:02}") for day in days],
    }


def make_event(rng: random.Random, date: str) -> dict[str, Any]:
    """Return one event of a tour."""
    return {
        "date": date,
        "event_name": rng.choice(NAMES),
        "venue": f"{rng.choice(VENUES)} {rng.choice(['', '', 'สาขา 2', 'Live', 'ฮอลล์ A'])}",
        "city": rng.choice(CITIES),
        "province": rng.choice(PROVINCES),
        "country": "Thailand",
        "time": rng.choice(["19:00", "20:00", "21:30", None]),
        "ticket_info": rng.choice(TICKETS),
        "status": "active",
        "confidence": 0.9,
    }


def predict(rng: random.Random, gold: dict[str, Any], skill: float) -> dict[str, Any] | None:
    """Return a copy of a poster with the mistakes of a model of this skill (0 to 1)."""
    if rng.random() > skill + 0.15:
        return None
    wrong_year = rng.random() < WRONG_YEARS
    events = [blur(rng, event, skill) for event in gold["events"] if rng.random() < skill + 0.35]
    if rng.random() > skill:
        events.append(make_event(rng, f"{gold['source_month']}-30"))
    if rng.random() < SHUFFLED:
        rng.shuffle(events)
    for event in events:
        event["date"] = event["date"].replace("2026", "2569") if wrong_year else event["date"]
    return gold | {
        "artist_name": misread(rng, gold["artist_name"], skill),
        "tour_name": misread(rng, gold["tour_name"], skill),
        "contact_info": misread(rng, gold["contact_info"], skill),
        "events": events,
    }


def blur(rng: random.Random, event: dict[str, Any], skill: float) -> dict[str, Any]:
    """Return a copy of an event with misread letters, missing fields and wrong days."""
    copy = {name: misread(rng, event[name], skill) for name in event if name not in KEPT}
    if rng.random() > skill + 0.2:
        copy["date"] = f"{event['date'][:8]}{rng.randint(1, 28):02}"
    if rng.random() > skill:
        copy["time"] = None
    if rng.random() > skill:
        copy[rng.choice(["venue", "city", "province"])] = None
    return event | copy


def misread(rng: random.Random, text: str | None, skill: float) -> str | None:
    """Return a copy of a text with letters removed, doubled or swapped."""
    if text is None or rng.random() < skill:
        return text
    letters = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(letters))
        letters[at] = rng.choice(["", letters[at] * 2, rng.choice("กขคงัี่้ aeo")])
    return "".join(letters)
