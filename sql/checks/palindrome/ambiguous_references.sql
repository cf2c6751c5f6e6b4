-- Palindrome prompts to which task files give different right answers.
-- severity: warning
-- grain: prompt × reference
-- inherits: tasks
SELECT DISTINCT
    prompt,
    reference
FROM tasks
WHERE suite = 'palindrome' AND reference IS NOT NULL
QUALIFY count(DISTINCT reference) OVER (PARTITION BY prompt) > 1
ORDER BY prompt, reference
