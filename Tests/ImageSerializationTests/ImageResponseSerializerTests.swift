import CGdkPixbuf
import FoundationEssentials
import HTTPTypes
import LinnetImageSerialization
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct ImageResponseSerializerTests {
    /// Encodes pixels with gdk-pixbuf's own writer.
    private func encode(
        _ pixels: [UInt8],
        width: Int,
        height: Int,
        alpha: Bool,
        as type: String = "png"
    ) throws -> Data {
        let channels = alpha ? 4 : 3
        let pixbuf = try #require(
            gdk_pixbuf_new(GDK_COLORSPACE_RGB, alpha ? 1 : 0, 8, Int32(width), Int32(height))
        )
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        let target = try #require(gdk_pixbuf_get_pixels(pixbuf))
        for y in 0..<height {
            for x in 0..<width * channels {
                target[y * Int(gdk_pixbuf_get_rowstride(pixbuf)) + x] = pixels[y * width * channels + x]
            }
        }
        var buffer: UnsafeMutablePointer<gchar>?
        var size: gsize = 0
        let saved = gdk_pixbuf_save_to_bufferv(pixbuf, &buffer, &size, type, nil, nil, nil)
        try #require(saved != 0)
        defer { g_free(buffer) }
        return Data(bytes: try #require(buffer), count: Int(size))
    }

    private func read(_ data: Data, type: String? = "image/png", maximumPixels: Int = 1_000_000) throws -> Bitmap {
        var head = HTTPResponse(status: .ok)
        head.headerFields[.contentType] = type
        let serializer = ImageResponseSerializer(maximumPixels: maximumPixels)
        return try serializer.serialize(SerializedResponse(head: head, body: data))
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) } }

    @Test func pngWithAlphaKeepsItsPixels() throws {
        let pixels = pattern(7 * 5 * 4)
        let bitmap = try read(try encode(pixels, width: 7, height: 5, alpha: true))
        #expect(bitmap == Bitmap(width: 7, height: 5, pixels: pixels))
    }

    @Test func pngWithoutAlphaBecomesOpaque() throws {
        let pixels = pattern(3 * 2 * 3)
        let bitmap = try read(try encode(pixels, width: 3, height: 2, alpha: false))
        var expected: [UInt8] = []
        for start in stride(from: 0, to: 18, by: 3) { expected += pixels[start..<start + 3] + [255] }
        #expect(bitmap == Bitmap(width: 3, height: 2, pixels: expected))
    }

    @Test func imageLargerThanOnePieceIsRead() throws {
        var generator = SystemRandomNumberGenerator()
        let pixels = (0..<200 * 200 * 4).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let data = try encode(pixels, width: 200, height: 200, alpha: true)
        #expect(data.count > 64 * 1024)
        #expect(try read(data).pixels == pixels)
    }

    @Test func theBytesDecideTheFormat() throws {
        let data = try encode(pattern(16 * 16 * 3), width: 16, height: 16, alpha: false, as: "jpeg")
        let bitmap = try read(data, type: "image/png")
        #expect(bitmap.width == 16)
        #expect(bitmap.height == 16)
    }

    @Test func limitIsExact() throws {
        let data = try encode(pattern(10 * 10 * 4), width: 10, height: 10, alpha: true)
        #expect(try read(data, maximumPixels: 100).width == 10)
        let error = #expect(throws: SerializationError.self) { try read(data, maximumPixels: 99) }
        #expect((error?.underlying as? ImageError)?.code == .tooManyPixels)
    }

    @Test(arguments: ["png", "jpeg", "bmp", "tiff", "ico"])
    func bombsOfEachFormatAreRefused(type: String) throws {
        let data = try encode(pattern(64 * 64 * 3), width: 64, height: 64, alpha: false, as: type)
        let error = #expect(throws: SerializationError.self) { try read(data, maximumPixels: 1000) }
        #expect((error?.underlying as? ImageError)?.code == .tooManyPixels)
    }

    @Test func fiftyThousandSquaredIsRefusedByItsHeader() throws {
        var data = try encode(pattern(4), width: 1, height: 1, alpha: true)
        // IHDR's width and height, and the checksum that goes with them.
        data.replaceSubrange(16..<24, with: [0, 0, 0xC3, 0x50, 0, 0, 0xC3, 0x50])
        var checksum = PNGChecksum()
        data[12..<29].forEach { checksum.add($0) }
        data.replaceSubrange(29..<33, with: checksum.bytes)
        let error = #expect(throws: SerializationError.self) {
            try read(data, maximumPixels: ImageResponseSerializer().maximumPixels)
        }
        #expect((error?.underlying as? ImageError)?.code == .tooManyPixels)
    }

    @Test(arguments: ["png", "jpeg", "bmp", "tiff", "ico"]) func everyTruncationIsATypedError(type: String) throws {
        let data = try encode(pattern(20 * 20 * 3), width: 20, height: 20, alpha: false, as: type)
        // An icon's last bytes are its mask of transparency, a bit a pixel in rows of four bytes: no pixel is missing.
        for length in 0..<data.count - (type == "ico" ? 80 : 0) {
            let error = #expect(throws: SerializationError.self, "\(length) of \(data.count)") {
                _ = try read(data.prefix(length))
            }
            #expect(error?.code == .decodingFailed)
        }
    }

    @Test(arguments: [Data(), Data("hello".utf8), Data("<svg/>".utf8), Data("/* XPM */".utf8)])
    func whatIsNoImageIsUnknown(data: Data) {
        let error = #expect(throws: SerializationError.self) { try read(data) }
        #expect((error?.underlying as? ImageError)?.code == .unknownFormat)
        #expect(error?.response?.body == data)
    }

    @Test func otherContentTypesAreRefused() throws {
        let data = try encode(pattern(4), width: 1, height: 1, alpha: true)
        let error = #expect(throws: SerializationError.self) { try read(data, type: "text/html") }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test func bitmapWantsFourBytesAPixel() {
        #expect(Bitmap(width: 2, height: 1, pixels: [1, 2, 3]) == nil)
        #expect(Bitmap(width: 0, height: 0, pixels: []) == nil)
        #expect(Bitmap(width: .max, height: .max, pixels: []) == nil)
        #expect(Bitmap(width: 1, height: 1, pixels: [1, 2, 3, 4]) != nil)
    }
}

/// PNG's CRC-32.
private struct PNGChecksum {
    private var state: UInt32 = .max

    mutating func add(_ byte: UInt8) {
        state ^= UInt32(byte)
        for _ in 0..<8 { state = state & 1 == 1 ? 0xEDB8_8320 ^ state >> 1 : state >> 1 }
    }

    var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: ~state >> UInt32(24 - $0 * 8)) } }
}
