"""Judgements and votes of published data sets, read as they are, without an import."""

import csv
import json

from support import REFERENCE

PREFERENCES = REFERENCE / "preferences"


def read_json(name):
    return json.loads((PREFERENCES / name).read_text("utf-8"))


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def mt_bench_scores(judge):
    """Return a judge's scores by question, model and turn; -1 means that none could be read."""
    scores = {}
    for path in sorted((PREFERENCES / "mt_bench/en/judgments" / judge / "single_grade").iterdir()):
        for row in read_lines(path):
            for turn in (1, 2):
                score = row[f"score_turn{turn}"]
                if 1 <= score <= 10:
                    scores[row["question_id"], row["model_id"], turn] = score
    return scores


def judge_bench_ratings():
    """Return the ratings of each item, by data set and criterion as the oracle names them."""
    files = {
        "dices-350-expert": "dices/dices_350_expert.json",
        "dices-990": "dices/dices_990.json",
        "newsroom": "newsroom/newsroom.json",
        "recipe-crowd-sourcing-data": "recipe_crowd_sourcing_data/meta_evaluation_recipes.json",
    }
    found = {}
    for name, file in files.items():
        data = read_json(f"judge_bench/data/{file}")
        for criterion in (annotation["metric"] for annotation in data["annotations"]):
            found[f"{name}|{criterion}"] = [
                each["annotations"][criterion]["individual_human_scores"]
                for each in data["instances"]
                if criterion in each["annotations"]
            ]
    return found


def pandalm_votes():
    """Return the three people's votes on each pair, and those of both judges; 0 is a tie."""
    people = read_json("pandalm/testset-v1.json")
    gpt = {
        row["idx"]: row["gpt_result"] for row in read_json("pandalm/gpt-3.5-turbo-testset-v1.json")
    }
    pan = {
        row["idx"]: row["pandalm_result"] for row in read_json("pandalm/pandalm-7b-testset-v1.json")
    }
    codes = {"1": 1, "2": 2, "Tie": 0, "garbage": 3}
    return (
        [[row[f"annotator{slot}"] for slot in (1, 2, 3)] for row in people],
        {
            "gpt": [codes[gpt[row["idx"]]] for row in people],
            "pan": [pan[row["idx"]] for row in people],
        },
    )


def llmbar_winners(name):
    """Return the winners of each pair in both orders, by answer, in the last round of judging."""
    return [
        tuple(str(row["results"][-1][f"swap = {swap}"]["winner"]) for swap in (False, True))
        for row in read_json(f"llmbar/{name}")
    ]


def llmfao_votes():
    """Return the crowd's votes: a row for each, with `worker` and `winner` (left, right, tie)."""
    with (PREFERENCES / "llmfao/llmfao.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
