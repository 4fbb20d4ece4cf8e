import CommandSupport
import FoundationEssentials
import LinnetImageSerialization
import Testing

/// The file that gdk-pixbuf gets instead of the image: it has the same pixels, and nothing that they do not depend on.
@Suite(.timeLimit(.minutes(5))) struct LoaderFileTests {
    private func file(_ data: Data) throws -> LoaderFile {
        let format = try #require(ImageFormat(sniffing: data))
        return try LoaderFile(of: data, format: format, maximumPixels: 1_000_000)
    }

    /// Checks that the decoder's result for an image equals gdk-pixbuf's.
    private func expectSamePixels(_ data: Data, _ type: String, _ comment: Comment? = nil) throws {
        #expect(try ImageDecoder().decode(data).pixels == ImageSamples.pixels(of: data, as: type), comment)
    }

    private func failure(_ data: Data) -> ImageError.Code? {
        #expect(throws: ImageError.self) { _ = try ImageDecoder().decode(data) }?.code
    }

    @Test(arguments: ImageSamples.types) func eachSampleKeepsItsPixelsAndIsWrittenOnce(_ type: String) throws {
        let data = try ImageSamples.image(type)
        try expectSamePixels(data, type)
        let once = try file(data)
        #expect(once.data.count <= data.count)
        #expect(try file(once.data).data == once.data)
        #expect(try ImageInfo(of: once.data) == ImageInfo(of: data))
        #expect(try file(data + Data("appended".utf8)).data.count <= data.count)
    }

    // MARK: PNG

    @Test func chunksThatNoPixelDependsOnAreOmitted() throws {
        let png = try ImageSamples.image("png")
        let essential = try file(png).data
        let text = ImageBomb.chunk("tEXt", Array("a\0b".utf8))
        let gamma = ImageBomb.chunk("gAMA", [0, 0, 0x10, 0])
        let background = ImageBomb.chunk("bKGD", [0, 1, 0, 2, 0, 3])
        let parts = [
            png.prefix(33), Data(gamma + text + background), png.dropFirst(33).dropLast(12), Data(text), png.suffix(12),
        ]
        let more = Data(parts.joined())
        #expect(try file(more).data == essential)
        try expectSamePixels(more, "png")
    }

    @Test func aPaletteAndItsTransparencyAreKept() throws {
        let palette = ImageBomb.chunk("PLTE", [10, 20, 30, 40, 50, 60])
        let transparency = ImageBomb.chunk("tRNS", [77])
        let png = ImageBomb.png(width: 2, height: 1, color: 3, before: palette + transparency)
        #expect(try ImageDecoder().decode(png).pixels == [10, 20, 30, 77, 10, 20, 30, 77])
        // libpng takes the first of two.
        let twice = ImageBomb.png(
            width: 2, height: 1, color: 3, before: palette + transparency + ImageBomb.chunk("tRNS", [9]))
        #expect(try ImageDecoder().decode(twice).pixels == [10, 20, 30, 77, 10, 20, 30, 77])
    }

    @Test func damagedPNGIsStillRefused() throws {
        let png = try ImageSamples.image("png")
        #expect(failure(png.prefix(33) + ImageBomb.chunk("CgBI", [0]) + png.dropFirst(33)) == .malformed)
        #expect(failure(png.prefix(33) + ImageBomb.chunk("a?aa", [0]) + png.dropFirst(33)) == .malformed)
        #expect(failure(png.dropLast(12)) == .malformed)
        var damaged = png
        damaged[damaged.count - 13] ^= 1
        #expect(failure(damaged) == .malformed, "The checksum of the data is wrong.")
        #expect(failure(png.prefix(8) + png.dropFirst(33)) == .malformed, "There is no header.")
    }

    // MARK: JPEG

    @Test func segmentsThatTellTheEncodingOfColorsAreKept() throws {
        let jpeg = try ImageSamples.image("jpeg")
        let adobe: [UInt8] = [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        let header = Int(jpeg[4]) << 8 | Int(jpeg[5])
        #expect(jpeg[3] == 0xE0, "The first segment is JFIF's.")
        let rgb = jpeg.prefix(2) + adobe + jpeg.dropFirst(4 + header)
        try expectSamePixels(rgb, "jpeg")
        #expect(try ImageDecoder().decode(rgb) != ImageDecoder().decode(jpeg))
        let comment: [UInt8] = [0xFF, 0xFE, 0, 4, 1, 2]
        #expect(try file(ImageSamples.withSegments(comment, jpeg: rgb)).data == file(rgb).data)
        try expectSamePixels(ImageSamples.withSegments(comment + [7, 0xFF] + comment + [9], jpeg: jpeg), "jpeg")
    }

    @Test(arguments: [(0xC0, 3), (0xC2, 1), (0xC2, 3)] as [(UInt8, Int)])
    func severalScansAreKept(_ sample: (frame: UInt8, components: Int)) throws {
        let data = ImageBomb.jpeg(
            frame: sample.frame, width: 40, height: 24, scans: 3, components: sample.components,
            data: [0x55, 0xFF, 0, 0x37])
        try expectSamePixels(data, "jpeg")
    }

    @Test func theEndOfAThumbnailDoesNotEndTheImage() throws {
        let jpeg = try ImageSamples.image("jpeg")
        let thumbnail = ImageSamples.withSegments([0xFF, 0xE1, 0, 6, 0xFF, 0xD8, 0xFF, 0xD9], jpeg: jpeg)
        #expect(try ImageDecoder().decode(thumbnail) == ImageDecoder().decode(jpeg))
        #expect(failure(thumbnail.dropLast(2)) == .malformed)
    }

    @Test func aSmallerSizeOfAProgressiveJPEGIsTheSameInPieces() throws {
        let data = ImageBomb.jpeg(frame: 0xC2, width: 800, height: 400, scans: 3, data: [0x55, 0xFF, 0, 0x37])
        for limit in [800, 700, 300, 100] {
            let bitmap = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: limit)).decode(data)
            #expect(bitmap.width == limit && bitmap.height == limit / 2)
        }
    }

    // MARK: WebP

    @Test(.enabled(if: ImageSamples.hasWebP, "webp-pixbuf-loader is not installed: `make setup` installs it"))
    func theFirstFrameOfAnAnimationIsPlacedOnItsCanvas() throws {
        let red = ImageBomb.lossless(4, 2, color: (255, 0, 0, 255))
        let blue = ImageBomb.lossless(10, 8, color: (0, 0, 255, 255))
        let start = ImageBomb.canvas(10, 8, flags: 0x12) + ImageBomb.riff("ANIM", [9, 9, 9, 9, 0, 0])
        let small = ImageBomb.frame(red, x: 4, y: 6, width: 4, height: 2)
        let data = ImageBomb.webp(start + small + ImageBomb.frame(blue, width: 10, height: 8))
        try expectSamePixels(data, "webp")
        let bitmap = try ImageDecoder().decode(data)
        #expect(bitmap.width == 10 && bitmap.height == 8)
        #expect(bitmap.pixels.prefix(4) == [0, 0, 0, 0])
        #expect(Array(bitmap.pixels[256..<260]) == [255, 0, 0, 255])
        #expect(try ImageInfo(of: data).frameCount == 2)
        let scaled = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 5)).decode(data)
        #expect(scaled.width == 5 && scaled.height == 4)
    }

    @Test(.enabled(if: ImageSamples.hasWebP, "webp-pixbuf-loader is not installed: `make setup` installs it"))
    func alphaOfAWebPIsKept() throws {
        let lossless = ImageBomb.webp(ImageBomb.lossless(3, 2, color: (200, 100, 50, 128)))
        #expect(try ImageDecoder().decode(lossless).pixels.prefix(4) == [200, 100, 50, 128])
        let lossy = try ImageSamples.encode(
            ImageSamples.pattern(16 * 16 * 4), width: 16, height: 16, alpha: true, as: "webp")
        try expectSamePixels(lossy, "webp")
        #expect(
            try ImageDecoder().decode(lossy).pixels.enumerated().contains { $0.offset % 4 == 3 && $0.element < 255 })
        let frame = ImageBomb.frame(Array(lossy.dropFirst(30)), width: 16, height: 16)
        let start = ImageBomb.canvas(16, 16, flags: 0x12) + ImageBomb.riff("ANIM", [0, 0, 0, 0, 0, 0])
        let animation = ImageBomb.webp(start + frame)
        #expect(try ImageDecoder().decode(animation) == ImageDecoder().decode(lossy))
    }

    @Test func framesThatContradictTheirCanvasAreRefused() {
        let image = ImageBomb.lossless(4, 2, color: (255, 0, 0, 255))
        let start = ImageBomb.canvas(10, 8, flags: 2) + ImageBomb.riff("ANIM", [0, 0, 0, 0, 0, 0])
        for frame in [
            ImageBomb.frame(image, x: 8, y: 0, width: 4, height: 2),
            ImageBomb.frame(image, width: 5, height: 2), ImageBomb.frame([], width: 4, height: 2), [],
        ] {
            #expect(failure(ImageBomb.webp(start + frame)) == .malformed)
        }
        #expect(failure(ImageBomb.webp(ImageBomb.canvas(5, 2, flags: 0) + image)) == .malformed)
    }

    // MARK: TIFF

    @Test(arguments: [false, true]) func layoutsOfATIFFAreKept(bigEndian: Bool) throws {
        let gray = ImageSamples.pattern(16 * 16)
        let strips =
            ImageBomb.size(16, 16) + [
                ImageBomb.Tag(tag: 278, values: [5]), ImageBomb.Tag(tag: 273, values: [8, 88, 168, 248]),
                ImageBomb.Tag(tag: 279, values: [80, 80, 80, 16]),
                ImageBomb.Tag(tag: 305, type: 1, values: [65, 66, 67, 68, 0]),
            ]
        let tiles =
            ImageBomb.size(16, 16) + [
                ImageBomb.Tag(tag: 322, values: [16]), ImageBomb.Tag(tag: 323, values: [16]),
                ImageBomb.Tag(tag: 324, values: [8]), ImageBomb.Tag(tag: 325, values: [256]),
            ]
        let planes =
            ImageBomb.size(8, 8, samples: 3) + [
                ImageBomb.Tag(tag: 284, type: 3, values: [2]), ImageBomb.Tag(tag: 273, values: [8, 72, 136]),
                ImageBomb.Tag(tag: 279, values: [64, 64, 64]),
            ]
        let single =
            ImageBomb.size(16, 16) + [
                ImageBomb.Tag(tag: 273, values: [8]), ImageBomb.Tag(tag: 274, type: 3, values: [3]),
            ]
        for tags in [strips, tiles, planes, single] {
            let data = ImageBomb.tiff(gray, tags, bigEndian: bigEndian)
            // gdk-pixbuf may refuse tiles.
            if tags.contains(where: { $0.tag == 322 }) {
                #expect(try ImageInfo(of: file(data).data) == ImageInfo(of: data))
            } else {
                try expectSamePixels(data, "tiff", "\(tags.map(\.tag))")
            }
            let written = try file(data)
            #expect(written.data.count <= data.count + LoaderFile.maximumGrowth)
            #expect(try file(written.data).data == written.data)
        }
    }

    /// libtiff multiplies the colors with an unassociated alpha; colors that are multiplied in the file stay so.
    @Test(arguments: [(2, [200, 100, 50]), (1, [255, 199, 100]), (0, [200, 100, 50])])
    func colorsOfATIFFAreNotPremultiplied(_ sample: (alpha: Int, color: [UInt8])) throws {
        let tags =
            ImageBomb.size(2, 1, samples: 4) + [
                ImageBomb.Tag(tag: 338, type: 3, values: [sample.alpha]), ImageBomb.Tag(tag: 273, values: [8]),
                ImageBomb.Tag(tag: 279, values: [8]),
            ]
        let data = ImageBomb.tiff([200, 100, 50, 128, 9, 8, 7, 255], tags)
        #expect(try ImageDecoder().decode(data).pixels == sample.color + [128, 9, 8, 7, 255])
        let transparent = ImageBomb.tiff([0, 0, 0, 0, 9, 8, 7, 255], tags)
        #expect(try ImageDecoder().decode(transparent).pixels == [0, 0, 0, 0, 9, 8, 7, 255])
    }

    @Test func alphaOfATIFFSurvivesGdkPixbufsWriter() throws {
        let pixels = ImageSamples.pattern(9 * 4 * 4)
        let data = try ImageSamples.encode(pixels, width: 9, height: 4, alpha: true, as: "tiff")
        #expect(try ImageDecoder().decode(data).pixels == pixels)
    }

    @Test(arguments: [6, 34_661, 34_887, 34_925, 50_000, 50_001, 9])
    func otherCompressionsOfATIFFAreRefused(_ compression: Int) {
        let tags =
            ImageBomb.size(4, 4, compression: compression) + [
                ImageBomb.Tag(tag: 273, values: [8]), ImageBomb.Tag(tag: 279, values: [16]),
            ]
        let data = ImageBomb.tiff([UInt8](repeating: 0, count: 16), tags)
        let error = #expect(throws: ImageError.self) { try ImageDecoder().decode(data) }
        #expect(error?.message.contains("\(compression)") == true)
    }

    // MARK: BMP and ICO

    @Test func aBitmapsPixelsMayFollowAGap() throws {
        let pixels = ImageSamples.pattern(16)
        let plain = ImageBomb.bmp(width: 2, height: 2, depth: 24, data: pixels)
        let apart = ImageBomb.bmp(width: 2, height: 2, depth: 24, start: 60, data: [1, 2, 3, 4, 5, 6] + pixels)
        #expect(try file(apart).data == file(plain).data)
        try expectSamePixels(apart, "bmp")
        let masks: [UInt8] = [0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0xFF, 0, 0, 0]
        try expectSamePixels(
            ImageBomb.bmp(width: 2, height: 2, depth: 32, compression: 3, start: 66, data: masks + pixels), "bmp")
        for depth in [1, 4, 8] {
            try expectSamePixels(ImageBomb.bmp(width: 4, height: 4, depth: depth, data: pixels), "bmp", "\(depth)")
        }
    }
}
