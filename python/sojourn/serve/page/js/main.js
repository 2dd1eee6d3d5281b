// The start of each page, by what its main element says it is.

const root = document.getElementById("page");
const { start } = await import(root.dataset.page === "lesson" ? "./lesson.js" : "./explore.js");
try {
  await start(root);
} catch (error) {
  root.textContent = `This page cannot start: ${error.message}`;
}
