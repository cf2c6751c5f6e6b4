-- An answer's score and verdict, and those by name, come from its assertions.
SELECT
    'promptfoo' AS suite,
    '(not-)?(llm-rubric|search-rubric|model-graded-closedqa|(model-graded-)?factuality|g-eval'
    || '|answer-relevance|conversation-relevance|context-(faithfulness|recall|relevance)'
    || '|select-best)' AS judge_scorers,
    'assertion ' AS component_prefix
