import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// Servers that contradict themselves, and destinations that change meanwhile: no wrong file has the destination's
/// name.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct BadServerTests {
    private static let data = bytes(5_000_000)

    /// An answer to the request for the rest of the file.
    enum Rest: String, Sendable, CaseIterable {
        case largerTotal, smallerTotal, noTotal, earlierRange, laterRange, longerBody, longerChunks, otherTag, noRange
        case twoRanges

        /// The answer to a request for a range.
        func response(_ first: Int, _ last: Int) -> MockResponse {
            let total = BadServerTests.data.count
            var (range, tag) = ("bytes \(first)-\(last)/\(total)", "\"v1\"")
            var body = Data(BadServerTests.data[first...last])
            switch self {
            case .largerTotal: range = "bytes \(first)-\(last)/\(total + 5)"
            case .smallerTotal: range = "bytes \(first)-\(last)/\(total - 5)"
            case .noTotal: range = "bytes \(first)-\(last)/*"
            case .earlierRange: range = "bytes \(first - 1)-\(last)/\(total)"
            case .laterRange: range = "bytes \(first + 1)-\(last)/\(total)"
            case .longerBody, .longerChunks: body += bytes(10)
            case .otherTag: tag = "\"v2\""
            case .noRange: range = ""
            case .twoRanges: range = "bytes \(first)-\(last)/\(total), bytes 0-1/\(total)"
            }
            let fields: HTTPFields = range.isEmpty ? [.eTag: tag] : [.eTag: tag, .contentRange: range]
            return MockResponse(
                status: .partialContent, headerFields: fields,
                body: self == .longerChunks ? .chunks([body]) : .bytes(body))
        }
    }

    /// A part that the server does not continue is given up, and the whole file is requested.
    @Test(arguments: Rest.allCases, [1, 4])
    func aContradictoryRestLeadsToTheWholeFile(_ rest: Rest, segments: Int) async throws {
        try await withFileServer(["/file": Self.data]) { files, server in
            files.change { state in
                if segments == 1 { state.fault = (.reset, 300_000, 1) }
                // The first range of a download in segments tells what the server has.
                state.rest = (skip: segments == 1 ? 0 : 1, count: 2, make: rest.response)
            }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder, { $0.retryPolicy.limit = 3 }) { background in
                    let task = try await background.download(background.get(server), to: file) {
                        $0.segments = segments
                    }
                    let ended = try await background.ended(task.id)
                    #expect(ended.state == .completed, "\(ended)")
                    #expect(files.state.withLock { ($0.rest?.count ?? 0) < 2 }, "no answer was contradictory")
                    // A range without the total is the requested one.
                    #expect((files.requests.last?.headerFields[.range] == nil) == (rest != .noTotal))
                }
                #expect(try Data(contentsOf: file) == Self.data)
                #expect(names(in: folder) == ["file", "session"])
            }
        }
    }

    /// The length of HTTP decides where a body ends (RFC 9112, section 6.3): what follows is no part of the file.
    @Test func bytesAfterTheBodyAreNoPartOfTheFile() async throws {
        try await withFileServer([:]) { files, server in
            files.change {
                $0.answers = [MockResponse(headerFields: [.contentLength: "100"], body: .bytes(bytes(150)))]
            }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == bytes(150).prefix(100))
            }
        }
    }

    @Test func aBodyThatIsLongerThanTheExpectedSizeIsStopped() async throws {
        try await withFileServer([:]) { files, server in
            files.change { $0.answers = [MockResponse(body: .chunks([Data](repeating: bytes(1000), count: 1000)))] }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file) {
                        $0.expectedSize = 999_999
                    }
                    #expect(try await background.ended(task.id).error?.code == .sizeMismatch)
                }
                #expect(names(in: folder).filter { !$0.hasPrefix(".") } == ["session"])
            }
        }
    }

    /// The destination becomes a folder before the attempt, or while it transfers.
    @Test(arguments: [true, false])
    func aDestinationThatBecomesAFolderKeepsTheFile(isRunning: Bool) async throws {
        let data = bytes(500_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = .init(bytes: 16 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file) {
                        if !isRunning { $0.earliestBeginDate = Date.now + 0.5 }
                    }
                    if isRunning { try await background.progress(of: task.id) }
                    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
                    let ended = try await background.ended(task.id)
                    #expect(ended.error?.code == .invalidDestination, "\(ended)")
                    #expect(names(in: file).isEmpty)
                    try FileManager.default.removeItem(at: file)
                    try await background.retry(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                    // A complete file is kept for that.
                    #expect(files.requests.count == 1)
                }
                #expect(try Data(contentsOf: file) == data)
            }
        }
    }
}
