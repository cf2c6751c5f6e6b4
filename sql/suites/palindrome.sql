SELECT 'palindrome' AS suite, true AS declares_versions, 'template_hash' AS prompts_hash
