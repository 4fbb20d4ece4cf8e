import FoundationEssentials
import LinnetImageSerialization
import Testing

@Suite(.timeLimit(.minutes(1))) struct ImageIconTests {
    private struct Entry {
        let side: UInt8
        let data: Data
    }

    /// An icon of images, each with a size for the directory.
    private func icon(_ images: [Entry]) -> Data {
        func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        var directory: [UInt8] = [0, 0, 1, 0, UInt8(images.count), 0]
        var contents = Data()
        for image in images {
            let offset = 6 + images.count * 16 + contents.count
            directory += [image.side, image.side, 0, 0, 1, 0, 32, 0] + little(image.data.count) + little(offset)
            contents += image.data
        }
        return Data(directory) + contents
    }

    /// An image from an icon of gdk-pixbuf, without the directory.
    private func bitmap(_ side: Int, level: UInt8) throws -> Data {
        let pixels = [UInt8](repeating: level, count: side * side * 3)
        return try ImageSamples.encode(pixels, width: side, height: side, alpha: false, as: "ico").dropFirst(22)
    }

    private func png(_ side: Int, level: UInt8) throws -> Data {
        try ImageSamples.encode(
            [UInt8](repeating: level, count: side * side * 3), width: side, height: side, alpha: false)
    }

    @Test func pngInAnIconIsDecoded() throws {
        let data = icon([Entry(side: 0, data: try png(256, level: 70))])
        #expect(try ImageInfo(of: data).width == 256)
        let decoded = try ImageDecoder().decode(data)
        #expect(decoded.width == 256)
        #expect(decoded.pixels.prefix(4) == [70, 70, 70, 255])
    }

    @Test func largestImageOfAnIconIsDecoded() throws {
        let (small, large) = (try bitmap(16, level: 10), try png(48, level: 20))
        for images in [
            [Entry(side: 16, data: small), Entry(side: 48, data: large)],
            [Entry(side: 48, data: large), Entry(side: 16, data: small)],
        ] {
            let decoded = try ImageDecoder().decode(icon(images))
            #expect(decoded.width == 48)
            #expect(decoded.pixels.first == 20)
            #expect(try ImageInfo(of: icon(images)).frameCount == 2)
        }
        let other = icon([
            Entry(side: 16, data: try png(16, level: 30)), Entry(side: 32, data: try bitmap(32, level: 40)),
        ])
        let decoded = try ImageDecoder().decode(other)
        #expect(decoded.width == 32)
        #expect(decoded.pixels.first == 40)
    }

    @Test func sizeOfAPNGInAnIconOverridesItsEntry() throws {
        let data = icon([Entry(side: 16, data: try ImageSamples.withSize(20_000, "png"))])
        #expect(try ImageInfo(of: data).width == 20_000)
        #expect(#expect(throws: ImageError.self) { try ImageDecoder().decode(data) }?.code == .tooManyPixels)
    }

    @Test func malformedIconsAreTypedErrors() throws {
        let whole = icon([
            Entry(side: 16, data: try bitmap(16, level: 10)), Entry(side: 48, data: try png(48, level: 20)),
        ])
        for length in 0..<whole.count {
            let error = #expect(throws: ImageError.self, "\(length)") {
                try ImageDecoder().decode(whole.prefix(length))
            }
            #expect(error?.code == .malformed || error?.code == .unknownFormat)
        }
        var beyond = whole
        beyond.replaceSubrange(34..<38, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: ImageError.self) { try ImageDecoder().decode(beyond) }
    }
}
