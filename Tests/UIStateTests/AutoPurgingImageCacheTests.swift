import Foundation  // FileManager, UUID
import Glibc
import HTTPTypes
import LinnetSession
import Synchronization
import Testing

@testable import LinnetUIState

@Suite("Image cache", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct AutoPurgingImageCacheTests {
    private func cache(_ capacity: Int, _ preferred: Int) -> AutoPurgingImageCache<Picture> {
        AutoPurgingImageCache(
            memoryCapacity: capacity, preferredMemoryUsageAfterPurge: preferred, purgesUnderMemoryPressure: false)
    }

    @Test func theDefaultsEqualAFNetworkings() {
        let cache = AutoPurgingImageCache<Picture>()
        #expect(cache.memoryCapacity == 100 * 1024 * 1024)
        #expect(cache.preferredMemoryUsageAfterPurge == 60 * 1024 * 1024)
        #expect(cache.memoryUsage == 0 && cache.count == 0)
    }

    @Test func imagesAreFoundByIdentifierAndByRequest() throws {
        let cache = cache(100, 60)
        let request = try ImageRequest<Picture>(path: "a")
        let variant = try ImageRequest<Picture>(path: "a", processors: [.tagged("small")])
        cache.add(Picture(name: "identified"), withIdentifier: request.url.absoluteString)
        cache.add(Picture(name: "original"), for: request)
        cache.add(Picture(name: "variant"), for: variant)
        #expect(cache.image(withIdentifier: request.url.absoluteString)?.name == "identified")
        #expect(cache.image(for: request)?.name == "original")
        #expect(cache.image(for: variant)?.name == "variant")
        #expect(cache.image(withIdentifier: "other") == nil)
        #expect(cache.memoryUsage == 12 && cache.count == 3)
    }

    @Test func differentHeaderFieldsAreDifferentImages() throws {
        let cache = cache(100, 60)
        var request = try ImageRequest<Picture>(path: "a")
        cache.add(Picture(name: "public"), for: request)
        request.headerFields[.authorization] = "Bearer x"
        #expect(cache.image(for: request) == nil)
    }

    @Test func anImageIsReplaced() {
        let cache = cache(100, 60)
        cache.add(Picture(name: "old", byteCount: 10), withIdentifier: "a")
        cache.add(Picture(name: "new", byteCount: 30), withIdentifier: "a")
        #expect(cache.image(withIdentifier: "a")?.name == "new")
        #expect(cache.memoryUsage == 30 && cache.count == 1)
    }

    @Test func removingSaysWhetherThereWasOne() throws {
        let cache = cache(100, 60)
        let request = try ImageRequest<Picture>(path: "a")
        cache.add(Picture(name: "a"), withIdentifier: "a")
        cache.add(Picture(name: "a"), for: request)
        #expect(!cache.removeImage(withIdentifier: "b"))
        #expect(cache.removeImage(withIdentifier: "a") && !cache.removeImage(withIdentifier: "a"))
        #expect(cache.removeImage(for: request) && !cache.removeImage(for: request))
        cache.add(Picture(name: "a"), withIdentifier: "a")
        #expect(cache.removeAllImages() && !cache.removeAllImages())
        #expect(cache.memoryUsage == 0 && cache.count == 0)
    }

    /// AFNetworking's test: the eleventh of ten images that fit purges down to six.
    @Test func theEleventhImagePurgesDownToSix() {
        let cache = cache(100, 60)
        for number in 1...10 { cache.add(Picture(name: "\(number)", byteCount: 10), withIdentifier: "\(number)") }
        #expect(cache.count == 10 && cache.memoryUsage == 100)
        _ = cache.image(withIdentifier: "1")
        cache.add(Picture(name: "11", byteCount: 10), withIdentifier: "11")
        #expect(cache.count == 6 && cache.memoryUsage == 60)
        #expect(cache.image(withIdentifier: "1") != nil, "An image that was used lately remains.")
        #expect(cache.image(withIdentifier: "2") == nil && cache.image(withIdentifier: "11") != nil)
    }

    @Test func anImageBeyondTheCapacityIsNotAdded() {
        let cache = cache(100, 60)
        cache.add(Picture(name: "a", byteCount: 50), withIdentifier: "a")
        #expect(!cache.add(Picture(name: "huge", byteCount: 101), withIdentifier: "huge"))
        #expect(!cache.add(Picture(name: "max", byteCount: .max), withIdentifier: "max"))
        #expect(cache.image(withIdentifier: "a") != nil && cache.memoryUsage == 50)
        #expect(cache.add(Picture(name: "large", byteCount: 90), withIdentifier: "large"))
        #expect(cache.count == 1 && cache.memoryUsage == 90, "A new image is not purged by itself.")
        #expect(cache.add(Picture(name: "negative", byteCount: -1), withIdentifier: "negative"))
        #expect(cache.memoryUsage == 90)
    }

    @Test func impossibleLimitsAreCorrected() {
        let cache = cache(-1, 5)
        #expect(cache.memoryCapacity == 0 && cache.preferredMemoryUsageAfterPurge == 0)
        #expect(!cache.add(Picture(name: "a"), withIdentifier: "a"))
        #expect(self.cache(10, 20).preferredMemoryUsageAfterPurge == 10)
    }

    @Test(arguments: 0..<10)
    func theUsageIsTheSumAndNeverExceedsTheCapacity(_ round: UInt64) {
        let seed = 0xCAC4E + round
        var random = SplitMix(seed: seed)
        let cache = cache(1000, 600)
        for _ in 0..<2000 {
            let identifier = "\(Int.random(in: 0..<60, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0: cache.removeImage(withIdentifier: identifier)
            case 1..<4: _ = cache.image(withIdentifier: identifier)
            default:
                let size = Int.random(in: 0..<300, using: &random)
                cache.add(Picture(name: identifier, byteCount: size), withIdentifier: identifier)
                #expect(cache.image(withIdentifier: identifier)?.byteCount == size, "seed \(seed)")
            }
            #expect(cache.memoryUsage <= 1000, "seed \(seed)")
        }
        let sum = (0..<60).compactMap { cache.image(withIdentifier: "\($0)")?.byteCount }.reduce(0, +)
        #expect(cache.memoryUsage == sum, "seed \(seed)")
    }
}

@Suite("Memory pressure", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct MemoryPressureTests {
    /// A named pipe stands for the kernel's file: bytes written to it are a report.
    private func withPipe(_ perform: (_ path: String, _ report: () -> Void) async -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pressure-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "pipe").path
        try #require(mkfifo(path, 0o600) == 0)
        let pipe = open(path, O_RDWR | O_NONBLOCK)
        try #require(pipe >= 0)
        defer { close(pipe) }
        await perform(path) { write(pipe, "x", 1) }
    }

    private func source(_ path: String) -> MemoryPressureSource {
        MemoryPressureSource(path: path, trigger: nil, events: Int16(POLLIN))
    }

    @Test func pressureRemovesAllImages() async throws {
        try await withPipe { path, report in
            let cache = AutoPurgingImageCache<Picture>(
                memoryCapacity: 100, preferredMemoryUsageAfterPurge: 60, pressureSource: source(path))
            for _ in 0..<3 {
                cache.add(Picture(name: "a"), withIdentifier: "a")
                #expect(cache.count == 1)
                report()
                await eventually { cache.count == 0 }
            }
        }
    }

    @Test func aSourceThatIsMissingIsNotWatched() {
        #expect(MemoryPressureWatch(source("/nonexistent/pressure")) {} == nil)
        let cache = AutoPurgingImageCache<Picture>(
            memoryCapacity: 100, preferredMemoryUsageAfterPurge: 60, pressureSource: source("/nonexistent"))
        #expect(cache.add(Picture(name: "a"), withIdentifier: "a"))
    }

    @Test func theKernelsReportsAreWatchedWhereItAcceptsTheTrigger() throws {
        let trigger = try #require(MemoryPressureSource.kernel.trigger)
        let file = open(MemoryPressureSource.kernel.path, O_RDWR | O_NONBLOCK)
        let isAccepted = file >= 0 && write(file, trigger, trigger.utf8.count + 1) > 0
        if file >= 0 { close(file) }
        #expect((MemoryPressureWatch(.kernel) {} != nil) == isAccepted)
    }

    @Test func theThreadAndTheDescriptorsEndWithTheWatch() async throws {
        try await withPipe { path, report in
            let calls = Mutex(0)
            weak var released: MemoryPressureWatch?
            do {
                let watch = MemoryPressureWatch(source(path)) { calls.withLock { $0 += 1 } }
                released = watch
                report()
                await eventually { calls.withLock { $0 } == 1 }
            }
            #expect(released == nil)
        }
    }
}
