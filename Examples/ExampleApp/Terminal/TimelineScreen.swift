import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The face in a terminal: keys become commands, and states become rows.
@MainActor
final class TimelineScreen {
    private let model: TimelineModel
    private let terminal: Terminal
    private let style = TextStyle(environment: ProcessInfo.processInfo.environment)
    private var view = TimelineView(size: Terminal.size)
    private var shown = ShownRows()
    private var nextDrawing: Task<Void, Never>?

    /// Takes the terminal; nil if the process has none.
    init?(_ model: TimelineModel) {
        guard let terminal = Terminal() else { return nil }
        (self.model, self.terminal) = (model, terminal)
    }

    /// Runs until the user or a signal ends the program, restores the terminal, and returns the exit code.
    func run() async -> Int32 {
        let drawing = Task { for await _ in model.states { draw() } }
        model.perform(.refresh, on: nil)
        var code: Int32?
        for await event in terminal.events {
            code = handle(event)
            if code != nil { break }
        }
        drawing.cancel()
        nextDrawing?.cancel()
        terminal.end()
        return code ?? 0
    }

    /// Handles an event, and returns the exit code if it ends the program.
    private func handle(_ event: Terminal.Event) -> Int32? {
        switch event {
        case .keys(let keys):
            if !keys.allSatisfy(press) { return 0 }
        case .closed: return 128 + SIGHUP
        case .signal(SIGTSTP):
            // As the signal does by default.
            terminal.leave()
            kill(getpid(), SIGSTOP)
        case .signal(let number) where number == SIGWINCH || number == SIGCONT:
            if number == SIGCONT { terminal.enter() }
            view.size = Terminal.size
            shown = ShownRows()
        case .signal(let number): return 128 + number
        }
        draw()
        return nil
    }

    /// Performs the key's command, and returns whether the program goes on.
    private func press(_ key: String) -> Bool {
        let posts = model.state.posts
        if let command = TimelineCommand.allCases.first(where: { $0.key == key }) {
            model.perform(command, on: posts.isEmpty ? nil : posts[view.selected(in: posts)])
        } else {
            view.press(key, posts: posts, page: drawing.page)
        }
        return key != "q"
    }

    private var drawing: TimelineDrawing {
        TimelineDrawing(state: model.state, view: view, style: style, now: Date())
    }

    /// Draws the state, and again after some time: soon while something moves, and otherwise for the ages of the posts.
    private func draw() {
        let drawing = drawing
        terminal.write(shown.sequences(for: drawing.rows))
        model.loadPictures(of: drawing.shownPosts)
        let isMoving = model.state.isIndicatorVisible || model.state.isRefreshing
        nextDrawing?.cancel()
        nextDrawing = Task { [weak self] in
            guard (try? await Task.sleep(for: isMoving ? .milliseconds(100) : .seconds(5))) != nil else { return }
            self?.draw()
        }
    }
}
