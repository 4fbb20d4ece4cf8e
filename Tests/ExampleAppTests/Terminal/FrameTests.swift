import CommandSupport
import FoundationEssentials
import Linnet
import Testing

@testable import ExampleApp

/// Compares drawings with the files in `Frames`. `LINNET_RECORD_FRAMES=1` writes them anew.
@Suite(.timeLimit(.minutes(1)))
struct FrameTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Frames")

    @Test(arguments: [(40, 16), (80, 24), (120, 40)])
    func theTimelineAtThreeSizes(width: Int, height: Int) throws {
        try compare(.sample(SampleState.loaded(), width: width, height: height), "timeline-\(width)x\(height)")
    }

    @Test(arguments: [(40, 16), (80, 24)])
    func aTransferHasABarAndFigures(width: Int, height: Int) throws {
        var state = SampleState.loaded()
        state.transfer = SampleState.transfer()
        (state.isIndicatorVisible, state.isRefreshing) = (true, true)
        try compare(
            .sample(state, width: width, height: height) { $0.selection = state.posts[1].id },
            "transfer-\(width)x\(height)")
    }

    @Test(arguments: TimelinePanel.allCases)
    func aPanelIsShownInsteadOfTheTimeline(panel: TimelinePanel) throws {
        let state = SampleState.loaded()
        try compare(.sample(state) { $0.panel = panel }, "panel-\(panel.rawValue)")
        let small = TimelineDrawing.sample(state, width: 40, height: 12) { $0.panel = panel }
        #expect(small.text.contains(panel.title))
    }

    @Test func theLineOfCodeIsBesideItsEffect() throws {
        var state = SampleState.loaded()
        state.transfer = SampleState.transfer()
        try compare(.sample(state) { $0.showsCode = true }, "code")
        for panel in TimelinePanel.allCases {
            let drawing = TimelineDrawing.sample(state, width: 120) { ($0.panel, $0.showsCode) = (panel, true) }
            #expect(drawing.text.contains(panel.effect.code))
        }
        let low = TimelineDrawing.sample(state, height: 11)
        #expect(TimelineDrawing.sample(state, height: 11) { $0.showsCode = true }.rows == low.rows)
    }

    @Test func withoutANetworkThereIsABanner() throws {
        var state = TimelineState(server: "localhost:1")
        state.network = .notReachable
        (state.message, state.isError) = ("The connection to localhost:1 was refused.", true)
        try compare(.sample(state, width: 60, height: 12), "offline")
    }

    /// All seen and wanted pins are on the screen, with what they mean and what to do. The facts belong to an earlier
    /// connection.
    @Test func aRefusedPinIsExplainedInsteadOfTheTimeline() throws {
        var state = TimelineState(server: "localhost:4433")
        state.refusal = try SampleState.refusal()
        state.facts = SampleState.facts
        (state.message, state.isError) = ("The server is not trusted, and nothing was sent.", true)
        try compare(.sample(state), "refused")
        let narrow = TimelineDrawing.sample(state, width: 40, height: 30).plainRows
            .map { $0.filter { $0 != " " } }.joined()
        let refusal = try #require(state.refusal)
        for pin in refusal.seenPins + refusal.wantedPins { #expect(narrow.contains(pin.description)) }

        // A timeline that was loaded before stays.
        state.posts = SampleState.loaded().posts
        #expect(!TimelineDrawing.sample(state).text.contains("Wanted:"))
        #expect(TimelineDrawing.sample(state) { $0.panel = .pins }.text.contains("Wanted:"))
        state.refusal = nil
        #expect(TimelineDrawing.sample(state) { $0.panel = .pins }.text.contains("A pin of the policy matches"))
    }

    /// A message that is longer than a line, and one that is longer than half of the screen.
    @Test(arguments: [(80, 24), (40, 16), (20, 6)])
    func anErrorIsShownWhole(width: Int, height: Int) throws {
        let limit = max(1, height / 2 - 2)
        for count in [1, 8, 30, 300] {
            let words = (0..<count).map { "word\($0)" }
            var state = SampleState.loaded()
            (state.message, state.isError) = (words.joined(separator: " "), true)
            let drawing = TimelineDrawing.sample(state, width: width, height: height)
            let rows = drawing.plainRows
            let lines = rows.filter { $0.hasPrefix(" word") }
            #expect(rows.count == height && rows.allSatisfy { $0.columns <= width })
            let isCut = lines.last?.hasSuffix("…") == true
            #expect(isCut || lines.flatMap { $0.split(separator: " ").map(String.init) } == words)
            #expect(isCut ? lines.count == limit : lines.count <= limit)
        }
    }

    @Test func theKeysAreOnTheScreen() {
        let text = TimelineDrawing.sample(SampleState.loaded()).text
        for command in TimelineCommand.allCases { #expect(text.contains("\(command.key) \(command.rawValue)")) }
        for panel in TimelinePanel.allCases { #expect(text.contains("\(panel.key) \(panel.rawValue)")) }
        #expect(text.contains("q quit"))
        let keys = TimelineCommand.allCases.map(\.key) + TimelinePanel.allCases.map(\.key)
        #expect(Set(keys + ["q", "j", "k", "g", "G", "b", " "]).count == keys.count + 7)
    }

    @Test(arguments: [(0, 0), (1, 1), (2, 40), (19, 5), (20, 5), (130, 0)])
    func aScreenThatIsTooSmallSaysSo(width: Int, height: Int) {
        var state = SampleState.loaded()
        (state.network, state.transfer) = (.notReachable, SampleState.transfer())
        let drawing = TimelineDrawing.sample(state, width: width, height: height)
        #expect(drawing.plainRows == ["Too small."])
        // A key that moves by a page has an effect even then.
        #expect(drawing.page.contains(0))
    }

    @Test func withoutColorsThereAreLettersForPictures() {
        let drawing = TimelineDrawing.sample(SampleState.loaded(), hasColors: false)
        #expect(drawing.text.contains(" AD "))
        #expect(!drawing.text.contains("▀"))
    }

    @Test func aScreenOfAnySizeAndStateCanBeDrawn() {
        var random = SplitMix(seed: RandomSeed.next())
        let keys = ["down", "page down", "end", "i", "p", "n", "escape"]
        let network = [SampleState.loaded().network, .notReachable]
        for _ in 0..<100 {
            var state = SampleState.loaded()
            state.transfer = Bool.random(using: &random) ? SampleState.transfer() : nil
            state.network = network.randomElement(using: &random) ?? .unknown
            let (width, height) = (Int.random(in: 0...130, using: &random), Int.random(in: 0...50, using: &random))
            var view = TimelineView(size: TerminalSize(width: width, height: height))
            for _ in 0..<4 {
                let page = TimelineDrawing.sample(state, width: width, height: height) { $0 = view }.page
                view.press(keys.randomElement(using: &random) ?? "down", posts: state.posts, page: page)
            }
            let rows = TimelineDrawing.sample(state, width: width, height: height) { $0 = view }.plainRows
            #expect(rows.count == height || width < 20 || height < 6)
            #expect(width < 20 || rows.allSatisfy { $0.columns <= width })
        }
    }

    @Test func textOfAServerContainsNoControlCharacters() throws {
        var state = TimelineState(server: "x\u{1B}[2J")
        let url = try #require(URL(string: "https://localhost/"))
        state.posts = [
            Post(
                id: 1, text: "a\u{1B}]0;t\u{07}b\r\nc\u{202E}",
                user: User(username: "\u{1B}[31mx", avatarImage: User.Picture(url: url)),
                attachment: Attachment(name: "\u{9B}5n", url: url, size: -1))
        ]
        state.message = "\u{1B}c"
        let text = TimelineDrawing.sample(state).text
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }

    private func compare(_ drawing: TimelineDrawing, _ name: String) throws {
        let text = drawing.text + "\n"
        let file = Self.folder.appending(path: name + ".txt")
        if ProcessInfo.processInfo.environment["LINNET_RECORD_FRAMES"] != nil {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let stored = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text == stored, "The drawing differs from \(name).txt:\n\(text)")
    }
}
