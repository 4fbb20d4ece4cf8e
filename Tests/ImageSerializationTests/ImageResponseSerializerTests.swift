import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetImageSerialization
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ImageResponseSerializerTests {
    private func read(_ data: Data, type: String? = "image/png", maximumPixels: Int = 1_000_000) throws -> Bitmap {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = type
        let serializer = ImageResponseSerializer(options: ImageDecoder.Options(maximumPixels: maximumPixels))
        return try serializer.serialize(SerializedResponse(head: head, body: data))
    }

    @Test func pngWithAlphaKeepsItsPixels() throws {
        let pixels = ImageSamples.pattern(7 * 5 * 4)
        let bitmap = try read(try ImageSamples.encode(pixels, width: 7, height: 5, alpha: true))
        #expect(bitmap == Bitmap(width: 7, height: 5, pixels: pixels))
    }

    @Test func pngWithoutAlphaBecomesOpaque() throws {
        let pixels = ImageSamples.pattern(3 * 2 * 3)
        let bitmap = try read(try ImageSamples.encode(pixels, width: 3, height: 2, alpha: false))
        var expected: [UInt8] = []
        for start in stride(from: 0, to: 18, by: 3) { expected += pixels[start..<start + 3] + [255] }
        #expect(bitmap == Bitmap(width: 3, height: 2, pixels: expected))
    }

    @Test func imageLargerThanOnePieceIsRead() throws {
        var generator = SplitMix(seed: RandomSeed.next())
        let pixels = (0..<200 * 200 * 4).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let data = try ImageSamples.encode(pixels, width: 200, height: 200, alpha: true)
        #expect(data.count > 64 * 1024)
        #expect(try read(data).pixels == pixels)
    }

    @Test func formatIsDetectedFromTheBytes() throws {
        let data = try ImageSamples.encode(
            ImageSamples.pattern(16 * 16 * 3), width: 16, height: 16, alpha: false, as: "jpeg")
        let bitmap = try read(data, type: "image/png")
        #expect(bitmap.width == 16)
        #expect(bitmap.height == 16)
    }

    @Test(arguments: ImageSamples.types)
    func aLimitOfTheCallScalesLikeTheOptionsLimit(_ type: String) throws {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = "image/png"
        let response = SerializedResponse(head: head, body: try ImageSamples.image(type, width: 60, height: 40))
        let small = ImageResponseSerializer(options: ImageDecoder.Options(maximumDimension: 15))
        let expected = try small.serialize(response)
        #expect(expected.width == 15 && expected.height == 10)
        #expect(try ImageResponseSerializer().serialize(response, toFit: 15) == expected)
        #expect(try small.serialize(response, toFit: 30) == expected, "The smaller limit applies.")
        #expect(try small.serialize(response, toFit: 6).width == 6)
        #expect(try small.serialize(response, toFit: 0).width == 1)
    }

    @Test func limitIsExact() throws {
        let data = try ImageSamples.encode(ImageSamples.pattern(10 * 10 * 4), width: 10, height: 10, alpha: true)
        #expect(try read(data, maximumPixels: 100).width == 10)
        let error = #expect(throws: SerializationError.self) { try read(data, maximumPixels: 99) }
        #expect((error?.underlying as? ImageError)?.code == .tooManyPixels)
    }

    @Test(arguments: ["png", "jpeg", "bmp", "tiff", "ico"])
    func bombsOfEachFormatAreRefused(type: String) throws {
        let data = try ImageSamples.encode(
            ImageSamples.pattern(64 * 64 * 3), width: 64, height: 64, alpha: false, as: type)
        let error = #expect(throws: SerializationError.self) { try read(data, maximumPixels: 1000) }
        #expect((error?.underlying as? ImageError)?.code == .tooManyPixels)
    }

    @Test(arguments: [Data(), Data("hello".utf8), Data("<svg/>".utf8), Data("/* XPM */".utf8)])
    func otherBytesAreAnUnknownFormat(data: Data) {
        let error = #expect(throws: SerializationError.self) { try read(data) }
        #expect((error?.underlying as? ImageError)?.code == .unknownFormat)
        #expect(error?.response?.body == data)
    }

    @Test func otherContentTypesAreRefused() throws {
        let data = try ImageSamples.encode(ImageSamples.pattern(4), width: 1, height: 1, alpha: true)
        let error = #expect(throws: SerializationError.self) { try read(data, type: "text/html") }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test func bitmapRequiresFourBytesPerPixel() {
        #expect(Bitmap(width: 2, height: 1, pixels: [1, 2, 3]) == nil)
        #expect(Bitmap(width: 0, height: 0, pixels: []) == nil)
        #expect(Bitmap(width: .max, height: .max, pixels: []) == nil)
        #expect(Bitmap(width: 1, height: 1, pixels: [1, 2, 3, 4]) != nil)
    }
}
