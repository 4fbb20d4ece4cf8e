import FoundationEssentials
import Testing

@testable import ExampleApp

/// The lines of code that the app shows are in its sources.
@Suite(.timeLimit(.minutes(1)))
struct TimelineEffectTests {
    private static let app = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/ExampleApp")

    @Test(arguments: TimelineEffect.allCases)
    func theLineIsInTheSources(of effect: TimelineEffect) throws {
        let files = ["AttachmentDownloads", "TimelineClient", "TimelineModel"].map { "Timeline/\($0).swift" }
        let sources = try (files + ["TimelineOptions.swift"]).map {
            String(decoding: try Data(contentsOf: Self.app.appending(path: $0)), as: UTF8.self)
        }
        #expect(sources.contains { $0.contains(effect.code) }, "\(effect.code)")
    }

    @Test func aTransferHasTheLineOfTheLastCommand() {
        var transfer = SampleState.transfer()
        #expect(transfer.effect == (transfer.isUpload ? .upload : .download))
        for (phase, effect) in [
            (Transfer.Phase.suspended, TimelineEffect.suspension), (.cancelled, .cancellation),
            (.finished, transfer.isUpload ? .upload : .download),
        ] {
            transfer.phase = phase
            #expect(transfer.effect == effect)
        }
    }
}
