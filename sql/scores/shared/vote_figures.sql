-- Figures of votes, ratings and answers, by the rules of each suite whose boards report them.
-- grain: run, or run × model
-- model: model that the figures are about; NULL for all figures of the run
-- n: votes, ratings or items behind them
-- figures: each figure by the name that it is reported by
-- reason: why some of them are NULL
FROM scores.alpaca_eval_figures
UNION ALL
FROM scores.judge_bench_figures
UNION ALL
FROM scores.llmbar_figures
UNION ALL
FROM scores.wildbench_figures
UNION ALL
FROM scores.zeroeval_figures
