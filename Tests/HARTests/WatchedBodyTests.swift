import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// The body of a response whose reader is watched.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct WatchedBodyTests {
    private final class Watcher: ResponseBodyWatcher {
        let seen = Mutex<[String]>([])

        func didRead(_ bytes: ByteBuffer) { seen.withLock { $0.append(String(buffer: bytes)) } }

        func didEnd(_ end: Result<TransportResponseBody.Completion?, TransportError>) {
            let text =
                switch end {
                case .success(let completion): completion == nil ? "end" : "complete"
                case .failure(let error): error.code.description
                }
            seen.withLock { $0.append(text) }
        }
    }

    @Test func allWatchersSeeWhatTheOneReaderTakes() async throws {
        let (body, writer) = TransportResponseBodyWriter.makeBody()
        let (inner, outer) = (Watcher(), Watcher())
        let watched = body.watched(by: inner).watched(by: outer)
        writer.write(ByteBuffer(string: "abc"))
        writer.finish()
        #expect(watched.completion == nil)
        let bytes = try await watched.collect(upTo: 10)
        #expect(String(buffer: bytes) == "abc" && watched.completion != nil)
        let error = await #expect(throws: TransportError.self) { try await watched.collect(upTo: 10) }
        #expect(error?.code == .bodyHasReader)
        for watcher in [inner, outer] { #expect(watcher.seen.withLock { $0 } == ["abc", "complete"]) }
    }

    @Test func theEndIsReportedOnce() async throws {
        let watchers = [Watcher(), Watcher()]
        do {
            let (body, writer) = TransportResponseBodyWriter.makeBody()
            let watched = body.watched(by: watchers[0])
            writer.fail(TransportError(.readTimeout, "Late."))
            await #expect(throws: TransportError.self) { try await watched.collect(upTo: 10) }
        }
        do {
            let (body, writer) = TransportResponseBodyWriter.makeBody()
            _ = body.watched(by: watchers[1])
            writer.write(ByteBuffer(string: "unread"))
        }
        #expect(watchers.map { $0.seen.withLock { $0 } } == [["readTimeout"], ["cancelled"]])
    }

    @Test func aWholeBodyIsNotWatched() {
        let watcher = Watcher()
        let body = TransportResponseBody(ByteBuffer(string: "whole")).watched(by: watcher)
        #expect(body.whole == ByteBuffer(string: "whole") && watcher.seen.withLock { $0.isEmpty })
    }
}
