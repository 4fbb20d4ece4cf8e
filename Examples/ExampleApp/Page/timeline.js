// Shows each state that the app sends. Texts are set as text, so that a post cannot contain markup.
"use strict";
const find = id => document.getElementById(id);
let shownPosts = "";
let shownRequests = "";
let isConnected = true;

function setText(id, text) {
    if (find(id).textContent !== text) find(id).textContent = text;
}

function element(name, text, properties = {}) {
    const made = Object.assign(document.createElement(name), properties);
    if (text) made.textContent = text;
    return made;
}

function send(command, post) {
    if (isConnected) fetch(`/commands/${command}${post !== undefined ? `?post=${post}` : ""}`, { method: "POST" });
}

function item(post) {
    const row = element("li", "", { tabIndex: 0, id: `post-${post.id}` });
    row.append(post.avatar
        ? element("img", "", { src: post.avatar, alt: "", width: 48, height: 48 })
        : element("span", post.name.slice(0, 2).toUpperCase(), { className: "letters", ariaHidden: "true" }));
    const head = element("h3", post.name);
    if (post.age) head.append(element("small", post.age));
    row.append(head, element("p", post.text));
    if (post.attachment) {
        const button = element("button", `Download ${post.attachment}`, { type: "button" });
        button.addEventListener("click", () => send("download", post.id));
        const paragraph = element("p");
        paragraph.append(button);
        row.append(paragraph);
    }
    return row;
}

function showPosts(posts) {
    const text = JSON.stringify(posts);
    if (text === shownPosts) return;
    shownPosts = text;
    const focused = document.activeElement?.closest("li")?.id;
    find("timeline").replaceChildren(...posts.map(item));
    if (focused) find(focused)?.focus();
}

function bar(part) {
    const made = element("i", "", { title: part.part });
    Object.assign(made.style, { left: `${part.start}%`, width: `${part.length}%`, background: part.color });
    return made;
}

function showRequests(requests) {
    const text = JSON.stringify(requests);
    if (text === shownRequests) return;
    shownRequests = text;
    find("waterfall").replaceChildren(...requests.map(request => {
        const [row, bars] = [element("li", request.name), element("div", "", { className: "bars", ariaHidden: "true" })];
        bars.append(...request.bars.map(bar));
        row.append(bars, element("small", request.figures));
        return row;
    }));
}

function show(state) {
    for (const [id, text] of Object.entries(state.texts)) setText(id, text);
    find("message").className = state.flags.includes("error") ? "error" : "";
    find("indicator").hidden = !state.flags.includes("indicator");
    find("timeline").ariaBusy = String(state.flags.includes("refreshing"));
    find("transfer").hidden = !state.texts["transfer-name"];
    const bar = find("transfer-progress");
    if (state.fraction === undefined) bar.removeAttribute("value"); else bar.value = state.fraction;
    for (const button of find("transfer").querySelectorAll("button")) button.disabled = !state.flags.includes("transfer");
    showPosts(state.posts);
    showRequests(state.requests);
}

// Without the app, no button does anything. The next state says which do.
function setConnected(value) {
    if (isConnected !== value) for (const button of document.querySelectorAll("button")) button.disabled = !value;
    isConnected = value;
}

function move(step) {
    const rows = [...document.querySelectorAll("#timeline > li")];
    const place = rows.findIndex(row => row.contains(document.activeElement));
    rows[Math.min(rows.length - 1, Math.max(0, place + step))]?.focus();
}

function toggleCode() {
    find("code").ariaPressed = String(document.body.classList.toggle("with-code"));
}

document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const commands = { r: "refresh", u: "upload", s: "suspend", c: "cancel" };
    if (commands[event.key]) send(commands[event.key]);
    else if (event.key === "j" || event.key === "ArrowDown") { move(1); event.preventDefault(); }
    else if (event.key === "k" || event.key === "ArrowUp") { move(-1); event.preventDefault(); }
    else if (event.key === "?") toggleCode();
    else if (event.key === "d") document.activeElement?.closest("li")?.querySelector("button")?.click();
});
for (const button of document.querySelectorAll("[data-command]")) {
    button.addEventListener("click", () => send(button.dataset.command));
}
find("code").addEventListener("click", toggleCode);
// A dropped file is uploaded; the browser itself would open it in place of the page.
document.addEventListener("dragover", event => event.preventDefault());
document.addEventListener("drop", event => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file && isConnected) fetch(`/files?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
});
const events = new EventSource("/events");
events.addEventListener("state", event => {
    setConnected(true);
    show(JSON.parse(event.data));
});
events.onerror = () => {
    setConnected(false);
    setText("message", "The app has ended, or cannot be reached.");
    find("message").className = "error";
};
