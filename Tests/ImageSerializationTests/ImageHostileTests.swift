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
        // An icon's last bytes are its mask of transparency, a bit a pixel in rows of four bytes; a GIF's is its
        // trailer, and a WebP may end in a byte of padding. No pixel is missing without them.
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
        #expect(try peakAddressSpace() - before < Self.allowedGrowth)
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
        #expect(try peakAddressSpace() - before < Self.allowedGrowth)
    }

    /// libtiff accepts numbers with a sign, and a directory within the header.
    @Test(arguments: [6, 8, 9]) func declaredStripSizesBesideASizeWithASignAreNotAllocated(type: Int) throws {
        let size = type == 6 ? 127 : 1_000
        let data = ImageSamples.tiff(width: size, height: size, sizeType: type, tags: [(277, 3, 65_535)])
        let before = try peakAddressSpace()
        #expect(failure(data) == .tooManyPixels)
        #expect(try peakAddressSpace() - before < Self.allowedGrowth)
    }

    @Test func aTIFFWhoseSizeIsNotUnderstoodIsMalformed() {
        let rational = ImageSamples.tiff(width: 8, height: 8, sizeType: 5, tags: [(277, 3, 65_535)])
        #expect(failure(rational) == .malformed)
        var early = ImageSamples.tiff(width: 1_000, height: 1_000, tags: [(277, 3, 65_535)])
        early[4] = 7
        // The directory begins with the last byte of the header then, and has other tags.
        #expect(failure(early) == .malformed)
    }

    @Test func frameLargerThanItsGIFIsNotAllocated() throws {
        var data = ImageSamples.gif(width: 2, height: 2, frames: [1])
        let frame = try #require(data.indices.first { data[$0] == 0x2C && $0 > 20 })
        data.replaceSubrange((frame + 5)..<(frame + 9), with: [0xFF, 0xFF, 0xFF, 0xFF])
        let before = try peakAddressSpace()
        #expect(failure(data) == .tooManyPixels)
        #expect(try peakAddressSpace() - before < Self.allowedGrowth)
    }

    /// gdk-pixbuf skips bytes between blocks, and reads other blocks after an empty control extension: it would show a
    /// frame of 130 million pixels.
    @Test(arguments: [false, true]) func frameThatOnlyTheLoaderSeesIsNotAllocated(isAfterStrayByte: Bool) throws {
        let head = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        let large: [UInt8] = [0x2C, 0, 0, 0, 0, 0x00, 0x40, 0x00, 0x1F, 0, 2, 1, 0x44, 0, 0x3B]
        var hidden: [UInt8] = [0]
        if !isAfterStrayByte {
            // The small image is 44 bytes of an extension to the loader, and the large one is data of the small one.
            let data = [UInt8](repeating: 0, count: 33) + [0] + large
            hidden = [0x21, 0xF9, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, UInt8(data.count)] + data + [0, 0x3B]
        }
        let before = try peakAddressSpace()
        _ = try? ImageDecoder().decode(Data(head + hidden + large))
        #expect(try peakAddressSpace() - before < Self.allowedGrowth)
        if isAfterStrayByte { #expect(failure(Data(head + hidden + large)) == .tooManyPixels) }
    }

    /// Less than each image would take, and more than the 128 MiB of addresses that the C library reserves for a moment
    /// when another thread allocates for the first time.
    private static let allowedGrowth = 256 << 20

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

    /// Each of the blocks declares 65,535 entries, so that to walk all of them would take hours.
    @Test(arguments: ["jpeg", "webp"]) func onlyTheFirstEXIFBlockIsRead(type: String) throws {
        let header: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xFF, 0xFF]
        let exif = Array("Exif\0\0".utf8) + header
        var data: Data
        if type == "jpeg" {
            let segment = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
            data = ImageSamples.withSegments((0..<200_000).flatMap { _ in segment }, jpeg: try ImageSamples.image(type))
        } else {
            let chunk = Array("EXIF".utf8) + [UInt8(header.count), 0, 0, 0] + header
            let canvas = Array("VP8X".utf8) + [10, 0, 0, 0, 8, 0, 0, 0, 19, 0, 0, 9, 0, 0]
            data = Data("RIFF\0\0\0\0WEBP".utf8 + canvas + (0..<200_000).flatMap { _ in chunk })
        }
        data += [UInt8](repeating: 0, count: 65_535 * 12)
        let info = try ImageInfo(of: data)
        #expect(info.orientation == 1)
        #expect(info.width == 20)
    }

    /// Its size would be read from the bytes after it, and compared with the limit in place of the image's.
    @Test func aFrameOfAJPEGWithoutItsFieldsIsRefused() throws {
        let data = ImageSamples.withSegments([0xFF, 0xC2, 0, 3, 1], jpeg: try ImageSamples.image("jpeg"))
        #expect(failure(data) == .malformed)
        #expect(throws: ImageError.self) { try ImageInfo(of: data) }
    }

    @Test func scansOfAJPEGAreLimited() throws {
        #expect(
            try ImageDecoder().decode(ImageSamples.progressiveJPEG(scans: 64)).pixels.starts(with: [128, 128, 128, 255])
        )
        #expect(failure(ImageSamples.progressiveJPEG(scans: 65)) == .malformed)
        let jpeg = try ImageSamples.image("jpeg")
        // Not scans: markers in another segment, and after the image.
        let segment: [UInt8] = [0xFF, 0xE2, 0, 202] + (0..<200).map { $0.isMultiple(of: 2) ? 0xFF : 0xDA }
        let other = ImageSamples.withSegments(segment, jpeg: jpeg) + segment
        #expect(try ImageDecoder().decode(other) == ImageDecoder().decode(jpeg))
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
