import CommandSupport
import FoundationEssentials
import Testing

@testable import ExampleApp

/// Compares frames with the files in `Frames`. `LINNET_RECORD_FRAMES=1` writes them anew.
@Suite(.timeLimit(.minutes(1)))
struct FrameTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Frames")

    @Test(arguments: [(40, 16), (80, 24), (120, 40)])
    func theTimelineAtThreeSizes(width: Int, height: Int) throws {
        try compare(SampleState.loaded(width: width, height: height), "timeline-\(width)x\(height)")
    }

    @Test(arguments: [(40, 16), (80, 24)])
    func aTransferHasABarAndFigures(width: Int, height: Int) throws {
        var state = SampleState.loaded(width: width, height: height)
        var live = state.live
        live.transfer = SampleState.transfer()
        (live.isIndicatorVisible, live.isRefreshing) = (true, true)
        _ = state.apply(.live(live))
        _ = state.apply(.key(.down))
        try compare(state, "transfer-\(width)x\(height)")
    }

    @Test(arguments: [("?", "help"), ("i", "metrics"), ("p", "trust"), ("n", "network")])
    func aPanelIsDrawnOverTheTimeline(key: Character, name: String) throws {
        var state = SampleState.loaded()
        _ = state.apply(.key(.character(key)))
        try compare(state, "panel-\(name)")
        _ = state.apply(.resized(TerminalSize(width: 40, height: 12)))
        #expect(TimelineRenderer(depth: .trueColor).frame(state).text.contains("┘"))
    }

    @Test func withoutANetworkThereIsABanner() throws {
        var state = TimelineState(
            server: "localhost:1", size: TerminalSize(width: 60, height: 10), now: SampleState.now)
        var live = LiveState()
        (live.isNetworkReachable, live.network) = (false, "not reachable")
        _ = state.apply(.live(live))
        _ = state.apply(.failed("The connection to localhost:1 was refused."))
        try compare(state, "offline")
    }

    /// A message that is longer than a line, and one that is longer than half of the screen.
    @Test(arguments: [(80, 24), (40, 16), (20, 6)])
    func anErrorIsShownWhole(width: Int, height: Int) {
        for count in [1, 8, 30, 300] {
            let words = (0..<count).map { "word\($0)" }
            var state = SampleState.loaded(width: width, height: height)
            _ = state.apply(.failed(words.joined(separator: " ")))
            let lines = state.messageLines
            #expect(lines.count <= max(1, height / 2 - 2))
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= width - 2 })
            let isWhole = lines.last?.last != "…"
            #expect(isWhole == (lines.flatMap { $0.split(separator: " ").map(String.init) } == words))
            #expect(isWhole || lines.count == max(1, height / 2 - 2))
            let rows = TimelineRenderer(depth: .trueColor).frame(state).text.split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(rows.dropLast().suffix(lines.count).map { $0.dropFirst().description } == lines)
            // The posts end above it.
            #expect(state.layout.rows.upperBound <= height - 1 - lines.count)
            _ = state.apply(.loaded(state.posts, SampleState.facts))
            #expect(state.messageLines.count == 1)
        }
    }

    /// The facts belong to an earlier connection.
    @Test func aRefusedCertificateIsExplainedInItsPanel() {
        var state = SampleState.loaded()
        _ = state.apply(.failed("Refused.", refusal: ["No pin matches.", "Nothing was sent.", "  sha256/abc"]))
        _ = state.apply(.key(.character("p")))
        let text = TimelineRenderer(depth: .trueColor).frame(state).text
        for line in state.refusal { #expect(text.contains(line)) }
        #expect(!text.contains("A pin of the policy matches"))
        _ = state.apply(.loaded(state.posts, SampleState.facts))
        #expect(TimelineRenderer(depth: .trueColor).frame(state).text.contains("A pin of the policy matches"))
    }

    @Test func withoutColorsThereAreLettersForPictures() {
        let state = SampleState.loaded()
        let frame = TimelineRenderer(depth: .none).frame(state)
        #expect(frame.text.contains("[AD]"))
        #expect(!frame.text.contains("▀"))
    }

    @Test func kittyGetsPlaceholders() {
        var state = SampleState.loaded()
        _ = state.apply(.key(.answer("_Gi=31;OK")))
        for (depth, hasPlaceholders) in [(ColorDepth.trueColor, true), (.palette256, false)] {
            let text = TimelineRenderer(depth: depth).frame(state).text
            #expect(text.unicodeScalars.contains("\u{10EEEE}") == hasPlaceholders)
        }
    }

    @Test func aFrameOfAnySizeAndStateCanBeDrawn() {
        var random = SplitMix(seed: RandomSeed.next())
        let keys: [Key] = [.down, .pageDown, .end, .character("?"), .character("i"), .character("p"), .escape]
        let loaded = SampleState.loaded()
        for _ in 0..<100 {
            var state = loaded
            var live = state.live
            live.transfer = Bool.random(using: &random) ? SampleState.transfer() : nil
            live.isNetworkReachable = Bool.random(using: &random)
            _ = state.apply(.live(live))
            for _ in 0..<4 { _ = state.apply(.key(keys.randomElement(using: &random) ?? .down)) }
            let size = TerminalSize(
                width: Int.random(in: 0...130, using: &random), height: Int.random(in: 0...50, using: &random))
            _ = state.apply(.resized(size))
            #expect(TimelineRenderer(depth: .trueColor).frame(state).size == size)
        }
    }

    @Test func textOfAServerContainsNoControlCharacters() {
        var state = TimelineState(
            server: "x\u{1B}[2J", size: TerminalSize(width: 60, height: 12), now: SampleState.now)
        let user = User(username: "\u{1B}[31mx", avatarImage: AvatarImage(url: ""))
        let attachment = Attachment(name: "\u{9B}5n", url: "", size: -1)
        let post = Post(id: 1, text: "\u{1B}]0;x\u{07}\u{202E}", user: user, createdAt: nil, attachment: attachment)
        _ = state.apply(.loaded([post], SampleState.facts))
        _ = state.apply(.failed("\u{1B}c"))
        let text = TimelineRenderer(depth: .trueColor).frame(state).text
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
    }

    private func compare(_ state: TimelineState, _ name: String) throws {
        let text = TimelineRenderer(depth: .trueColor).frame(state).text + "\n"
        let file = Self.folder.appending(path: name + ".txt")
        if ProcessInfo.processInfo.environment["LINNET_RECORD_FRAMES"] != nil {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let stored = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text == stored, "The frame differs from \(name).txt:\n\(text)")
    }
}
