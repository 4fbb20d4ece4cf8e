import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetUIState
import Synchronization
import Testing

/// A slow server, timed by a clock, which counts the requests that are neither answered nor cancelled.
private final class SlowServer: Sendable {
    struct Counts {
        var active: Set<Int> = []
        var ended: Set<Int> = []
        var mostActive = 0
    }

    let clock = ManualClock()
    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    var transport: StubTransport {
        StubTransport { [self] request in
            let path = String((request.head.path ?? "/").dropFirst())
            defer { end(request.index) }
            return try await withTaskCancellationHandler {
                begin(request.index)
                try await clock.sleep(for: .milliseconds(20 + path.utf8.count * 5))
                return PictureServer.body(path)
            } onCancel: {
                // A session does not wait until a transport has noticed.
                end(request.index)
            }
        }
    }

    private func begin(_ index: Int) {
        state.withLock { counts in
            guard !counts.ended.contains(index) else { return }
            counts.active.insert(index)
            counts.mostActive = max(counts.mostActive, counts.active.count)
        }
    }

    private func end(_ index: Int) {
        state.withLock { counts in
            counts.active.remove(index)
            counts.ended.insert(index)
        }
    }
}

/// Reads bodies as pictures of a thousand bytes.
private struct LargePictureSerializer: ResponseSerializer {
    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Picture {
        Picture(name: String(decoding: response.body, as: UTF8.self), byteCount: 1000)
    }
}

/// The cells of a list on a screen, which are reused while it is scrolled.
@MainActor
private final class Screen {
    private let cells: [ImageState<Picture>]
    private let path: (Int) -> String
    private(set) var top = 0
    private(set) var wrong: [String] = []

    init(_ count: Int, _ downloader: ImageDownloader<Picture>, path: @escaping (Int) -> String) throws {
        cells = (0..<count).map { _ in ImageState(downloader) }
        self.path = path
        for row in 0..<count { try load(row) }
    }

    /// Shows the rows from one on.
    func scroll(to newTop: Int) throws {
        let shown = Set(top..<top + cells.count)
        top = newTop
        for row in newTop..<newTop + cells.count where !shown.contains(row) { try load(row) }
        check()
    }

    /// Notes a cell that shows the picture of another row.
    func check() {
        for row in top..<top + cells.count {
            guard let image = cell(row).image, image.name != path(row) else { continue }
            wrong.append("\(image.name) in the row of \(path(row))")
        }
    }

    var isComplete: Bool {
        (top..<top + cells.count).allSatisfy { cell($0).image?.name == path($0) }
    }

    private func cell(_ row: Int) -> ImageState<Picture> { cells[row % cells.count] }

    private func load(_ row: Int) throws { cell(row).load(try ImageRequest(path: path(row))) }
}

@MainActor
@Suite("Scrolling over images", .leavesNothingAlive, .timeLimit(.minutes(15)))
struct ImageScrollingTests {
    /// Ten thousand rows, with two thousand pictures, pass while the server answers slowly; then fewer, in the other
    /// order, and with a cache that holds a part of the pictures.
    @Test(arguments: [
        (10_000, ImageDownloadPrioritization.firstInFirstOut, 100 << 20), (2_000, .lastInFirstOut, 100 << 20),
        (2_000, .lastInFirstOut, 100_000),
    ])
    func cellsThatAreScrolledPastNeverShowAWrongPicture(
        _ rows: Int, _ prioritization: ImageDownloadPrioritization, _ capacity: Int
    ) async throws {
        let seed: UInt64 = 0x5C801
        var random = SplitMix(seed: seed)
        let server = SlowServer()
        let kept = Mutex<[String: Int]>([:])
        let session = try HTTPSession(transport: server.transport)
        let downloader = ImageDownloader(session: session, serializer: LargePictureSerializer()) {
            $0.shouldCache = { picture, _ in
                kept.withLock { $0[picture.name, default: 0] += 1 }
                return true
            }
            $0.prioritization = prioritization
            $0.imageCache = AutoPurgingImageCache(
                memoryCapacity: capacity, preferredMemoryUsageAfterPurge: capacity * 6 / 10,
                purgesUnderMemoryPressure: false)
        }
        let cache = try #require(downloader.imageCache)
        let screen = try Screen(12, downloader) { "\($0 % (rows / 5))" }
        var mostMemory = 0
        while screen.top < rows {
            // Mostly down, sometimes back, and sometimes it rests.
            let distance = Int.random(in: 0..<20, using: &random)
            let step = distance == 0 ? -30 : distance == 1 ? 0 : Int.random(in: 1...12, using: &random)
            try screen.scroll(to: max(0, screen.top + step))
            server.clock.advance(by: .milliseconds(4))
            await Task.yield()
            screen.check()
            mostMemory = max(mostMemory, cache.memoryUsage)
        }
        while !screen.isComplete {
            server.clock.advance(by: .milliseconds(4))
            await Task.yield()
            screen.check()
        }
        let counts = server.counts
        #expect(screen.wrong.isEmpty, "seed \(seed): \(screen.wrong.prefix(3))")
        #expect((1...4).contains(counts.mostActive), "seed \(seed)")
        #expect(mostMemory <= capacity && cache.memoryUsage <= capacity, "seed \(seed)")
        if capacity >= rows / 5 * 1000 {
            let times = kept.withLock { $0 }
            #expect(times.values.allSatisfy { $0 == 1 }, "seed \(seed): each picture is received once.")
        }
        await session.shutdown(.immediate)
    }

    @Test func fiveHundredCellsOverSocketsShowTheirPictures() async throws {
        let counts = Mutex((active: 0, mostActive: 0))
        try await withMockServer { request in
            counts.withLock {
                $0.active += 1
                $0.mostActive = max($0.mostActive, $0.active)
            }
            // Gives other requests the time to arrive.
            for _ in 0..<50 { await Task.yield() }
            counts.withLock { $0.active -= 1 }
            return .text(String(request.path.dropFirst()))
        } perform: { server in
            let session = try HTTPSession()
            let downloader = ImageDownloader(session: session, serializer: .picture) {
                $0.imageCache = AutoPurgingImageCache(purgesUnderMemoryPressure: false)
            }
            let cells = (0..<10).map { _ in ImageState(downloader) }
            for row in 0..<500 {
                cells[row % 10].load(ImageRequest(try server.url("/\(row % 100)")))
                // Lets every tenth row be read before it is scrolled on.
                if row % 10 == 9 { await until { cells.allSatisfy { $0.image != nil } } }
                for shown in max(0, row - 9)...row {
                    let image = cells[shown % 10].image
                    #expect(image == nil || image?.name == "\(shown % 100)")
                }
            }
            #expect((1...4).contains(counts.withLock { $0.mostActive }))
            #expect(server.recordedRequests.count == 100)
            await session.shutdown()
        }
    }
}
