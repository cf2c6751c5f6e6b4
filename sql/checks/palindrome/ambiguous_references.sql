-- Palindrome tasks whose task files give the same prompt different right answers.
-- severity: warning
-- grain: prompt × reference
SELECT DISTINCT
    prompt,
    reference
FROM tasks
WHERE suite = 'palindrome' AND reference IS NOT NULL
QUALIFY count(DISTINCT reference) OVER (PARTITION BY prompt) > 1
ORDER BY prompt, reference
