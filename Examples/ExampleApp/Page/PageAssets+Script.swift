extension PageAssets {
    /// Shows each state that the server sends. Texts are set as text, so that a post cannot contain markup.
    static let script = #"""
        "use strict";
        const find = id => document.getElementById(id);
        let shownPosts = "";
        let isConnected = true;

        function element(name, text, properties = {}) {
            const made = Object.assign(document.createElement(name), properties);
            if (text) made.textContent = text;
            return made;
        }

        function age(time) {
            const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
            const [value, unit] = seconds < 60 ? [seconds, "s"] : seconds < 3600 ? [seconds / 60, "min"]
                : seconds < 86400 ? [seconds / 3600, "h"] : [seconds / 86400, "d"];
            return `${Math.floor(value)} ${unit} ago`;
        }

        function size(bytes) {
            if (bytes < 1000) return `${Math.round(bytes)} B`;
            return bytes < 999950 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
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
            if (post.time) head.append(element("time", age(post.time), { dateTime: post.time }));
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

        function showTransfer(transfer) {
            find("transfer").hidden = !transfer;
            if (!transfer) return;
            find("transfer-name").textContent = `${transfer.direction}: ${transfer.name}`;
            const bar = find("transfer-progress");
            if (transfer.total) bar.value = transfer.completed / transfer.total; else bar.removeAttribute("value");
            const parts = [transfer.phase, size(transfer.completed)];
            if (transfer.phase === "running" && transfer.bytesPerSecond) parts.push(`${size(transfer.bytesPerSecond)}/s`);
            if (transfer.phase === "running" && transfer.secondsLeft) parts.push(`${Math.ceil(transfer.secondsLeft)} s left`);
            find("transfer-figures").textContent = parts.join(", ");
            const isActive = ["running", "suspended"].includes(transfer.phase);
            for (const button of find("transfer").querySelectorAll("button")) button.disabled = !isActive;
            find("transfer").querySelector("button").textContent = transfer.phase === "suspended" ? "Resume" : "Suspend";
        }

        function show(state) {
            const { live, facts } = state;
            find("server").textContent = state.server;
            find("indicator").hidden = !live.isIndicatorVisible;
            find("banner").hidden = live.isNetworkReachable;
            find("banner").textContent = `No network: ${live.network ?? "not reachable"}`;
            find("timeline").ariaBusy = String(live.isRefreshing);
            showPosts(state.posts);
            showTransfer(live.transfer);
            const rows = {
                "refreshing": live.isRefreshing ? "yes" : "no",
                "indicator": live.isIndicatorVisible ? "shown" : "hidden",
                "requests": live.activityCount,
                "network": live.networkDetail ?? "unknown",
                "pictures": `${live.pictureCount}, ${size(live.pictureBytes)}`,
                "protocol": facts?.httpVersion ?? "none",
                "encryption": facts?.encryption ?? "none",
                "pinned": facts?.isPinned ? "yes" : "no",
                "cache": facts?.cache ?? "none",
            };
            find("live").replaceChildren(
                ...Object.entries(rows).flatMap(([name, value]) => [element("dt", name), element("dd", String(value))]));
            const message = find("message");
            if (message.textContent !== (state.message ?? "")) message.textContent = state.message ?? "";
            message.className = state.isError ? "error" : "";
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

        document.addEventListener("keydown", event => {
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            const commands = { r: "refresh", u: "upload", s: "suspend", c: "cancel" };
            if (commands[event.key]) send(commands[event.key]);
            else if (event.key === "j" || event.key === "ArrowDown") { move(1); event.preventDefault(); }
            else if (event.key === "k" || event.key === "ArrowUp") { move(-1); event.preventDefault(); }
            else if (event.key === "d") document.activeElement?.closest("li")?.querySelector("button")?.click();
        });
        for (const button of document.querySelectorAll("[data-command]")) {
            button.addEventListener("click", () => send(button.dataset.command));
        }
        const events = new EventSource("/events");
        events.addEventListener("state", event => {
            setConnected(true);
            show(JSON.parse(event.data));
        });
        events.onerror = () => {
            setConnected(false);
            find("message").textContent = "The app has ended, or cannot be reached.";
            find("message").className = "error";
        };
        """#
}
