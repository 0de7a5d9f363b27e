// Before the first paint, so that a chosen theme does not flash the other one.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // If local storage is blocked, the system's theme is used.
}
