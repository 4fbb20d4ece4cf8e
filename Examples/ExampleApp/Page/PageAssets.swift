/// The files of the page.
enum PageAssets {
    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Linnet timeline</title>
        <link rel="stylesheet" href="/timeline.css">
        <link rel="icon" href="data:,">
        <script src="/timeline.js" defer></script>
        </head>
        <body>
        <a class="skip" href="#timeline">Skip to the timeline</a>
        <header>
        <h1>Linnet</h1>
        <p id="server"></p>
        <p id="indicator" role="img" aria-label="network activity" hidden></p>
        <nav aria-label="Commands">
        <button type="button" data-command="refresh" aria-keyshortcuts="r">Refresh</button>
        <button type="button" data-command="upload" aria-keyshortcuts="u">Upload a picture</button>
        </nav>
        </header>
        <p id="banner" role="alert" hidden></p>
        <main>
        <ol id="timeline" aria-label="Timeline" aria-busy="true" tabindex="-1"></ol>
        <aside aria-label="State">
        <section id="transfer" aria-label="Transfer" hidden>
        <h2 id="transfer-name"></h2>
        <progress id="transfer-progress" aria-labelledby="transfer-name" max="1"></progress>
        <p id="transfer-figures"></p>
        <button type="button" data-command="suspend" aria-keyshortcuts="s">Suspend</button>
        <button type="button" data-command="cancel" aria-keyshortcuts="c">Cancel</button>
        </section>
        <h2>Live state</h2>
        <dl id="live"></dl>
        </aside>
        </main>
        <footer><p id="message" role="status"></p></footer>
        </body>
        </html>
        """

    static let css = """
        :root { color-scheme: light dark; --line: #8886; --accent: #1a6fd0; --soft: #8882; }
        * { box-sizing: border-box; }
        body { margin: 0; font: 16px/1.45 system-ui, sans-serif; }
        header, footer { display: flex; gap: 1rem; align-items: center; padding: .5rem 1rem; }
        header { border-bottom: 1px solid var(--line); flex-wrap: wrap; }
        header p, footer p { margin: 0; }
        h1 { font-size: 1.3rem; margin: 0; }
        h2 { font-size: 1rem; margin: 1rem 0 .3rem; }
        nav { margin-left: auto; display: flex; gap: .5rem; }
        button { font: inherit; padding: .3rem .8rem; border: 1px solid var(--line); border-radius: .4rem;
            background: var(--soft); color: inherit; cursor: pointer; }
        button:disabled { opacity: .5; cursor: default; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .skip { position: absolute; left: -999rem; }
        .skip:focus { left: 1rem; top: 1rem; background: Canvas; padding: .5rem; }
        #indicator { width: 1rem; height: 1rem; border: 3px solid var(--soft); border-top-color: var(--accent);
            border-radius: 50%; animation: turn 1s linear infinite; }
        @keyframes turn { to { transform: rotate(360deg); } }
        @media (prefers-reduced-motion: reduce) { #indicator { animation: none; } }
        #banner { margin: 0; padding: .5rem 1rem; background: #ffd700; color: #000; font-weight: bold; }
        main { display: grid; grid-template-columns: minmax(0, 1fr) 19rem; }
        @media (max-width: 50rem) { main { grid-template-columns: minmax(0, 1fr); } }
        ol { list-style: none; margin: 0; padding: .5rem 1rem; }
        li { display: grid; grid-template-columns: 48px minmax(0, 1fr); gap: .1rem .8rem; padding: .6rem;
            border-bottom: 1px solid var(--line); border-radius: .4rem; }
        li img, li .letters { grid-row: span 3; width: 48px; height: 48px; border-radius: .4rem; }
        li .letters { background: #555; color: #fff; display: grid; place-items: center; font-weight: bold; }
        li p { margin: 0; overflow-wrap: anywhere; }
        li h3 { font-size: 1rem; margin: 0; color: var(--accent); }
        time { color: GrayText; font-weight: normal; font-size: .85rem; margin-left: .5rem; }
        aside { padding: .5rem 1rem; border-left: 1px solid var(--line); }
        progress { width: 100%; }
        dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem .8rem; margin: 0; font-size: .9rem; }
        dd { margin: 0; overflow-wrap: anywhere; }
        dt { color: GrayText; }
        footer { position: sticky; bottom: 0; background: Canvas; border-top: 1px solid var(--line); min-height: 2.5rem; }
        .error { color: #d22; font-weight: bold; }
        """
}
