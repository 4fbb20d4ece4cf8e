import CommandSupport
import FoundationEssentials
import LinnetImageSerialization
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ImageDecoderTests {
    @Test(arguments: ImageSamples.types) func headersHaveFormatAndSize(type: String) throws {
        let info = try ImageInfo(of: try ImageSamples.image(type, width: 31, height: 17))
        #expect(info.format.description == type)
        #expect(info.width == 31)
        #expect(info.height == 17)
        #expect(info.orientation == 1)
        #expect(info.frameCount == 1)
    }

    @Test(arguments: ["png", "bmp", "tiff", "ico"]) func losslessFormatsKeepTheirPixels(type: String) throws {
        let pixels = ImageSamples.pattern(12 * 8 * 3)
        let bitmap = try ImageDecoder().decode(
            try ImageSamples.encode(pixels, width: 12, height: 8, alpha: false, as: type))
        var expected: [UInt8] = []
        for start in stride(from: 0, to: pixels.count, by: 3) { expected += pixels[start..<start + 3] + [255] }
        #expect(bitmap == Bitmap(width: 12, height: 8, pixels: expected))
    }

    @Test func gifWithSmallBlocksAndStrayBytesIsDecoded() throws {
        let gif = ImageSamples.gif(width: 40, height: 30, frames: [3])
        let image = try #require(gif.indices.dropFirst(20).first { gif[$0] == 0x2C })
        var data = Data()
        var rest = gif[(image + 11)...]
        while let size = rest.first, size > 0 {
            for byte in rest.dropFirst().prefix(Int(size)) { data += [1, byte] }
            rest = rest.dropFirst(Int(size) + 1)
        }
        let small = gif.prefix(upTo: image) + [0, 7] + gif[image..<(image + 11)] + data + rest
        #expect(try ImageDecoder().decode(small) == ImageDecoder().decode(gif))
    }

    @Test func transparentColorOfAGIFIsTransparent() throws {
        var gif = ImageSamples.gif(width: 2, height: 1, frames: [3, 1])
        let control = try #require(gif.indices.dropLast().first { gif[$0] == 0x21 && gif[$0 + 1] == 0xF9 })
        gif[control + 3] = 1
        gif[control + 6] = 2
        #expect(try ImageDecoder().decode(gif).pixels == [255, 255, 255, 255, 255, 255, 255, 255])
        gif[control + 6] = 3
        #expect(try ImageDecoder().decode(gif).pixels.allSatisfy { $0 == 0 })
    }

    @Test func gifIsDecoded() throws {
        let bitmap = try ImageDecoder().decode(ImageSamples.gif(width: 40, height: 30, frames: [3]))
        #expect(bitmap == Bitmap(width: 40, height: 30, pixels: [UInt8](repeating: 255, count: 4800)))
    }

    /// A lossless WebP of 2 x 1 pixels in the simple format, if the loader is installed.
    @Test(.enabled(if: ImageSamples.hasWebP, "webp-pixbuf-loader is not installed: `make setup` installs it"))
    func webPIsDecoded() throws {
        let bitmap = try ImageDecoder().decode(
            try ImageSamples.encode(
                [UInt8](repeating: 200, count: 16 * 16 * 3), width: 16, height: 16, alpha: false, as: "webp"))
        #expect(bitmap.width == 16)
        #expect(bitmap.pixels.enumerated().allSatisfy { abs(Int($1) - ($0 % 4 == 3 ? 255 : 200)) <= 8 })
    }

    @Test(.enabled(if: !ImageSamples.hasWebP, "webp-pixbuf-loader is installed")) func missingLoaderIsATypedError() {
        let data = Data("RIFF".utf8) + [30, 0, 0, 0] + Data("WEBPVP8L".utf8) + [UInt8](repeating: 0, count: 20)
        #expect(#expect(throws: ImageError.self) { try ImageDecoder().decode(data) }?.code == .noLoader)
    }

    /// The quarter of the upright image for each quarter of the stored one; the top left one is red.
    @Test(
        arguments: [
            (1, [0, 1, 2, 3]), (2, [1, 0, 3, 2]), (3, [3, 2, 1, 0]), (4, [2, 3, 0, 1]), (5, [0, 2, 1, 3]),
            (6, [2, 0, 3, 1]), (7, [3, 1, 2, 0]), (8, [1, 3, 0, 2]),
        ] as [(UInt8, [Int])], [false, true])
    func orientationsAreApplied(_ sample: (orientation: UInt8, quarters: [Int]), bigEndian: Bool) throws {
        // Quarters of four gray levels, 16 x 8 each, so that each block of the JPEG has one level.
        let levels: [UInt8] = [20, 90, 160, 230]
        var pixels: [UInt8] = []
        for y in 0..<16 { for x in 0..<32 { pixels += [UInt8](repeating: levels[y / 8 * 2 + x / 16], count: 3) } }
        let data = try ImageSamples.jpeg(
            pixels, width: 32, height: 16, orientation: sample.orientation, bigEndian: bigEndian)
        #expect(try ImageInfo(of: data).orientation == Int(sample.orientation))
        let bitmap = try ImageDecoder().decode(data)
        let isTurned = sample.orientation >= 5
        #expect(bitmap.width == (isTurned ? 16 : 32))
        #expect(bitmap.height == (isTurned ? 32 : 16))
        for quarter in 0..<4 {
            let x = bitmap.width / 4 + quarter % 2 * bitmap.width / 2
            let y = bitmap.height / 4 + quarter / 2 * bitmap.height / 2
            let level = Int(bitmap.pixels[(y * bitmap.width + x) * 4])
            #expect(abs(level - Int(levels[sample.quarters[quarter]])) <= 10, "quarter \(quarter)")
        }
        let raw = try ImageDecoder(options: ImageDecoder.Options(appliesOrientation: false)).decode(data)
        #expect(raw.width == 32)
    }

    /// A row of a red, a green and a blue pixel, rotated and mirrored.
    @Test(
        arguments: [
            (1, [0, 1, 2]), (2, [2, 1, 0]), (3, [2, 1, 0]), (4, [0, 1, 2]), (5, [0, 1, 2]), (6, [0, 1, 2]),
            (7, [2, 1, 0]),
            (8, [2, 1, 0]), (9, [0, 1, 2]), (0, [0, 1, 2]),
        ] as [(UInt8, [Int])])
    func orientationsOfPNGAreApplied(orientation: UInt8, order: [Int]) throws {
        let row: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
        let png = try ImageSamples.encode(row.flatMap { $0 }, width: 3, height: 1, alpha: false)
        let data = ImageSamples.withOrientation(orientation, png: png)
        #expect(try ImageInfo(of: data).orientation == ((1...8).contains(orientation) ? Int(orientation) : 1))
        let bitmap = try ImageDecoder().decode(data)
        #expect(bitmap.width == ((5...8).contains(orientation) ? 1 : 3))
        #expect(bitmap.pixels == order.flatMap { row[$0] + [255] })
        #expect(try ImageDecoder(options: ImageDecoder.Options(appliesOrientation: false)).decode(data).width == 3)
    }

    @Test(arguments: ImageSamples.types) func imagesAreScaledToFit(type: String) throws {
        let data = try ImageSamples.image(type, width: 60, height: 40)
        let small = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 15)).decode(data)
        #expect(small.width == 15)
        #expect(small.height == 10)
        let same = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 60)).decode(data)
        #expect(same.width == 60)
        let least = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 0)).decode(data)
        #expect(least.width == 1)
        #expect(least.height == 1)
    }

    @Test func rotatedImageIsScaledByItsLongerSide() throws {
        let pixels = [UInt8](repeating: 100, count: 80 * 40 * 3)
        let data = try ImageSamples.jpeg(pixels, width: 80, height: 40, orientation: 6)
        let bitmap = try ImageDecoder(options: ImageDecoder.Options(maximumDimension: 20)).decode(data)
        #expect(bitmap.width == 10)
        #expect(bitmap.height == 20)
    }

    @Test func bitmapsAreWrittenAsPNG() throws {
        let bitmap = try #require(Bitmap(width: 5, height: 3, pixels: ImageSamples.pattern(60)))
        let data = try bitmap.pngData()
        #expect(ImageFormat(sniffing: data) == .png)
        #expect(try ImageDecoder().decode(data) == bitmap)
    }

    @Test func everySettingSurvivesCoding() throws {
        let options = ImageDecoder.Options(
            maximumPixels: 1, maximumFrames: 2, maximumDimension: 3, appliesOrientation: false)
        var validation = ResponseValidation(statusCodes: 201..<300, contentTypes: ["image/png"])
        validation.acceptsEmptyBody = false
        let serializer = ImageResponseSerializer(validation: validation, options: options)
        #expect(unchangedSettings(in: serializer, from: ImageResponseSerializer()) == [])
        let data = try JSONEncoder().encode(serializer)
        #expect(try JSONDecoder().decode(ImageResponseSerializer.self, from: data) == serializer)
        #expect(unchangedSettings(in: ImageDecoder(options: options), from: ImageDecoder()) == [])
        let decoder = try JSONEncoder().encode(ImageDecoder(options: options))
        #expect(try JSONDecoder().decode(ImageDecoder.self, from: decoder) == ImageDecoder(options: options))
    }

    @Test func compoundSerializersOfImagesSurviveCoding() throws {
        let member = ImageResponseSerializer(options: ImageDecoder.Options(maximumDimension: 3))
        let data = try JSONEncoder().encode(CompoundResponseSerializer<Bitmap>([member]))
        let decoder = JSONDecoder()
        #expect(throws: DecodingError.self) { try decoder.decode(CompoundResponseSerializer<Bitmap>.self, from: data) }
        let types: [any (Decodable & SendableMetatype).Type] = [ImageResponseSerializer.self]
        decoder.userInfo[.responseSerializerTypes] = types
        let copied = try decoder.decode(CompoundResponseSerializer<Bitmap>.self, from: data)
        #expect(copied.members.map { $0 as? ImageResponseSerializer } == [member])
    }
}
