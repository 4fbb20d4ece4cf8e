import FoundationEssentials
import Testing

@testable import ExampleApp

/// The lines of code that the app shows stand in its sources.
@Suite(.timeLimit(.minutes(1)))
struct CodeLinesTests {
    private static let app = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/ExampleApp")

    @Test func eachLineIsInTheSources() throws {
        let files = ["AttachmentDownloads", "TimelineClient", "TimelineModel"].map { "Timeline/\($0).swift" }
        let sources = try (files + ["TimelineOptions.swift"]).map {
            String(decoding: try Data(contentsOf: Self.app.appending(path: $0)), as: UTF8.self)
        }
        for line in TimelinePanel.codeLines {
            let code = try #require(line.split(separator: ": ", maxSplits: 1).last)
            #expect(sources.contains { $0.contains(code) }, "\(code)")
        }
        #expect(TimelinePanel.codeLines.count == TimelineCommand.allCases.count + TimelinePanel.allCases.count)
    }
}
