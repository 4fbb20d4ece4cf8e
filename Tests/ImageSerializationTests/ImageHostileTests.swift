import CommandSupport
import FoundationEssentials
import LinnetImageSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ImageHostileTests {
    private func failure(_ data: Data, _ options: ImageDecoder.Options = ImageDecoder.Options()) -> ImageError.Code? {
        #expect(throws: ImageError.self) { _ = try ImageDecoder(options: options).decode(data) }?.code
    }

    @Test(arguments: ImageSamples.types) func everyTruncationIsATypedError(type: String) throws {
        let data = try ImageSamples.image(type)
        // An icon's last bytes are its mask of transparency, a bit a pixel in rows of four bytes; a GIF's is its trailer,
        // and a WebP may end in a byte of padding. No pixel is missing without them.
        let spare = ["ico": 80, "gif": 1, "webp": 1][type] ?? 0
        for length in 0..<data.count - spare {
            let error = #expect(throws: ImageError.self, "\(length) of \(data.count)") {
                _ = try ImageDecoder().decode(data.prefix(length))
            }
            #expect(error?.code == .malformed || error?.code == .unknownFormat)
        }
    }

    @Test(arguments: ImageSamples.types) func mutatedFilesAreDecodedOrRefused(type: String) throws {
        let whole = try ImageSamples.image(type)
        let options = ImageDecoder.Options(maximumPixels: 100_000, maximumFrames: 10, maximumDimension: 64)
        var dice = SplitMix(seed: RandomSeed.next())
        for round in 0..<600 {
            var data = whole
            for _ in 0..<Int.random(in: 1...8, using: &dice) {
                // Mutations of headers reach the most code.
                let end = round.isMultiple(of: 2) ? min(data.count, 64) : data.count
                data[Int.random(in: 0..<end, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            if round.isMultiple(of: 5) { data = data.prefix(.random(in: 0...data.count, using: &dice)) }
            _ = try? ImageInfo(of: data)
            guard let bitmap = try? ImageDecoder(options: options).decode(data) else { continue }
            #expect(max(bitmap.width, bitmap.height) <= 64)
        }
    }

    @Test(arguments: ["png", "jpeg", "gif", "bmp", "tiff"]) func fiftyThousandSquaredIsRefusedByItsHeader(type: String)
        throws
    {
        let bomb = try ImageSamples.withSize(50_000, type)
        let info = try ImageInfo(of: bomb)
        #expect(info.width == 50_000)
        #expect(info.height == 50_000)
        #expect(failure(bomb) == .tooManyPixels)
    }

    #if os(Linux)
    /// gdk-pixbuf alone would allocate 1.6 GB for twenty thousand pixels squared.
    @Test(arguments: ["png", "jpeg", "gif", "bmp", "tiff"]) func refusedPixelsAreNotAllocated(type: String) throws {
        let bomb = try ImageSamples.withSize(20_000, type)
        let before = try peakAddressSpace()
        #expect(failure(bomb) == .tooManyPixels)
        #expect(try peakAddressSpace() - before < 100 << 20)
    }

    /// 146 bytes for 4.3 GB: a pixel may have 65,535 samples, a strip any number of rows, and a tile any size.
    @Test(arguments: [
        [(277, 3, 65_535), (278, 4, 256)], [(277, 4, 65_535), (278, 4, 256)],
        [(277, 3, 65_535), (278, 4, 0xFFFF_FFFF)],
        [(277, 11, 65_535), (278, 4, 256)], [(322, 4, 60_000), (323, 4, 60_000)], [(322, 5, 1), (323, 4, 0x7FFF_FFFF)],
    ])
    func declaredStripSizesOfATIFFAreNotAllocated(tags: [(tag: Int, type: Int, value: Int)]) throws {
        let data = ImageSamples.tiff(width: 256, height: 256, tags: tags)
        #expect(data.count <= 146)
        let before = try peakAddressSpace()
        #expect(failure(data) == .tooManyPixels)
        #expect(try peakAddressSpace() - before < 100 << 20)
    }

    @Test func frameLargerThanItsGIFIsNotAllocated() throws {
        var data = ImageSamples.gif(width: 2, height: 2, frames: [1])
        let frame = try #require(data.indices.first { data[$0] == 0x2C && $0 > 20 })
        data.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xFF, 0xFF, 0xFF])
        let before = try peakAddressSpace()
        #expect(failure(data) == .tooManyPixels)
        #expect(try peakAddressSpace() - before < 100 << 20)
    }

    private func peakAddressSpace() throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmPeak:") })
        return try #require(Int(line.filter(\.isNumber))) * 1024
    }
    #endif

    @Test(arguments: ImageSamples.types) func bombsOfEachFormatAreRefused(type: String) throws {
        let data = try ImageSamples.image(type, width: 64, height: 64)
        #expect(failure(data, ImageDecoder.Options(maximumPixels: 1000)) == .tooManyPixels)
        #expect(failure(data, ImageDecoder.Options(maximumPixels: 64 * 64 - 1)) == .tooManyPixels)
        #expect(try ImageDecoder(options: ImageDecoder.Options(maximumPixels: 64 * 64)).decode(data).width == 64)
        #expect(failure(data, ImageDecoder.Options(maximumPixels: -1)) == .tooManyPixels)
    }

    @Test func framesAreLimitedAndTheFirstIsDecoded() throws {
        let data = ImageSamples.gif(width: 3, height: 2, frames: [2, 0, 1])
        #expect(try ImageInfo(of: data).frameCount == 3)
        #expect(failure(data, ImageDecoder.Options(maximumFrames: 2)) == .tooManyFrames)
        let bitmap = try ImageDecoder(options: ImageDecoder.Options(maximumFrames: 3)).decode(data)
        #expect(bitmap.pixels == (0..<6).flatMap { _ in [0, 0, 255, 255] as [UInt8] })
    }

    @Test func tenThousandFramesAreRefused() throws {
        let data = ImageSamples.gif(width: 1, height: 1, frames: [Int](repeating: 1, count: 10_000))
        #expect(failure(data) == .tooManyFrames)
    }
}
