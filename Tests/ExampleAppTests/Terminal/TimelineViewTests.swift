import FoundationEssentials
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct TimelineViewTests {
    private static let state: TimelineState = {
        var state = SampleState.loaded()
        state.posts.removeLast(state.posts.count - 20)
        return state
    }()
    private static let posts = state.posts
    private static let plain = TextStyle(environment: ["NO_COLOR": "1"])

    /// The view after a key.
    private static func press(_ key: String, in view: inout TimelineView) -> TimelineDrawing {
        let now = SampleState.now
        let page = TimelineDrawing(state: state, view: view, style: plain, now: now).page
        view.press(key, posts: posts, page: page)
        return TimelineDrawing(state: state, view: view, style: plain, now: now)
    }

    @Test func keysMoveTheSelectionWithinTheTimeline() {
        var view = TimelineView(size: TerminalSize(width: 80, height: 24))
        for (key, selected) in [
            ("up", 0), ("down", 1), ("j", 2), ("k", 1), ("end", 19), ("down", 19), ("home", 0), ("G", 19), ("g", 0),
        ] {
            _ = Self.press(key, in: &view)
            #expect(view.selected(in: Self.posts) == selected, "\(key)")
        }
        let first = Self.press("home", in: &view).page
        let second = Self.press("page down", in: &view).page
        #expect(first.upperBound == second.lowerBound && second.contains(view.selected(in: Self.posts)))
        #expect(Self.press("page up", in: &view).page == first)
    }

    @Test(arguments: [(80, 24), (40, 12), (120, 50), (20, 6)])
    func theSelectedPostIsOnTheScreen(width: Int, height: Int) {
        var view = TimelineView(size: TerminalSize(width: width, height: height))
        let keys = Array(repeating: "down", count: 21) + Array(repeating: "up", count: 21) + ["end", "page up", "home"]
        for key in keys {
            let drawing = Self.press(key, in: &view)
            let selected = view.selected(in: Self.posts)
            #expect(drawing.page.contains(selected))
            let (name, rows) = (Self.posts[selected].user.username, drawing.plainRows)
            #expect(rows.contains { $0.hasPrefix("> ") && $0.contains(name) }, "\(selected)")
            // It is seen whole, unless it is the first one and higher than the screen.
            guard selected > drawing.page.lowerBound, let last = Self.posts[selected].text.last else { continue }
            let marked = rows.last { $0.hasPrefix(">") }
            #expect(marked?.last == last || marked?.count ?? 0 < 10, "\(selected)")
        }
        _ = Self.press("end", in: &view)
        view.size = TerminalSize(width: 40, height: 10)
        #expect(Self.press("other", in: &view).page.contains(19))
    }

    @Test func theSelectionStaysOnItsPostAfterARefresh() {
        var view = TimelineView(size: TerminalSize(width: 80, height: 24))
        _ = Self.press("down", in: &view)
        #expect(view.selected(in: Self.posts) == 1)
        #expect(view.selected(in: Array(Self.posts.dropFirst())) == 0)
        #expect(view.selected(in: []) == 0)
        view.press("down", posts: [], page: 0..<0)
        #expect(view.selection == nil)
    }

    @Test func panelsOpenAndClose() {
        var view = TimelineView(size: TerminalSize(width: 80, height: 24))
        let keys: [(String, TimelinePanel?)] = [
            ("p", .pins), ("i", .info), ("i", nil), ("n", .network), ("escape", nil), ("x", nil),
        ]
        for (key, panel) in keys {
            _ = Self.press(key, in: &view)
            #expect(view.panel == panel, "\(key)")
        }
    }
}
