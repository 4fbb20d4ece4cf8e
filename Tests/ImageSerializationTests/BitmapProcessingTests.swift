import LinnetImageSerialization
import LinnetSerialization
import Testing

@Suite("Variants of bitmaps", .timeLimit(.minutes(5)))
struct BitmapProcessingTests {
    private func white(_ width: Int, _ height: Int) throws -> Bitmap {
        try #require(
            Bitmap(width: width, height: height, pixels: [UInt8](repeating: 255, count: width * height * 4)))
    }

    private func alpha(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> UInt8 { bitmap.pixels[(y * bitmap.width + x) * 4 + 3] }

    @Test func theSizeInMemoryIsTheSizeOfThePixels() throws {
        #expect(try white(20, 10).byteCount == 800)
    }

    @Test(arguments: [(200, 100, 50, 50, 25), (100, 200, 50, 25, 50), (40, 30, 50, 40, 30), (300, 1, 10, 10, 1)])
    func scalingKeepsTheProportions(
        _ width: Int, _ height: Int, _ limit: Int, _ newWidth: Int, _ newHeight: Int
    ) throws {
        let scaled = try ImageProcessor<Bitmap>.scaled(toFit: limit).process(white(width, height))
        #expect(scaled.width == newWidth && scaled.height == newHeight)
        #expect(scaled.pixels.allSatisfy { $0 == 255 })
    }

    @Test func aSquareBecomesACircle() throws {
        let circle = try ImageProcessor<Bitmap>.rounded().process(white(40, 40))
        for (x, y) in [(0, 0), (39, 0), (0, 39), (39, 39), (4, 4), (35, 35)] { #expect(alpha(circle, x, y) == 0) }
        for (x, y) in [(20, 0), (0, 20), (39, 20), (20, 39), (20, 20), (8, 8)] { #expect(alpha(circle, x, y) > 200) }
        // The area of a circle, within a hundredth.
        let area = stride(from: 3, to: circle.pixels.count, by: 4).reduce(0) { $0 + Double(circle.pixels[$1]) / 255 }
        #expect(abs(area / (20 * 20 * .pi) - 1) < 0.01)
    }

    /// A cache has one image for both, under the identifier of the processor.
    @Test(arguments: ["png", "jpeg"])
    func theDecoderAndTheProcessorScaleToTheSameSize(_ type: String) throws {
        for (width, height) in [(100, 50), (333, 1000), (50, 50), (300, 2), (640, 427), (129, 127), (20, 10)] {
            let data = try ImageSamples.image(type, width: width, height: height)
            let processor = ImageProcessor<Bitmap>.scaled(toFit: 48)
            let options = ImageDecoder.Options(maximumDimension: processor.maximumDimension)
            let decoded = try ImageDecoder(options: options).decode(data)
            let processed = try processor.process(ImageDecoder().decode(data))
            #expect(decoded.width == processed.width && decoded.height == processed.height)
            #expect(try processor.process(decoded) == decoded)
        }
        #expect(ImageProcessor<Bitmap>.scaled(toFit: 48).maximumDimension == 48)
        #expect(ImageProcessor<Bitmap>.rounded().maximumDimension == nil)
    }

    @Test func cornersAreRoundedByTheRadius() throws {
        let rounded = try white(60, 20).rounded(radius: 5)
        #expect(alpha(rounded, 0, 0) == 0 && alpha(rounded, 59, 19) == 0)
        #expect(alpha(rounded, 6, 0) == 255 && alpha(rounded, 0, 6) == 255 && alpha(rounded, 30, 10) == 255)
        #expect(try white(60, 20).rounded(radius: 0) == white(60, 20))
        #expect(try white(60, 20).rounded(radius: -3) == white(60, 20))
        #expect(try white(1, 1).rounded().byteCount == 4)
    }

    @Test func identifiersNameTheParameters() {
        typealias Processor = ImageProcessor<Bitmap>
        let identifiers = [
            Processor.scaled(toFit: 64), .scaled(toFit: 65), .rounded(), .rounded(radius: 5), .rounded(radius: 6),
        ].map(\.identifier)
        #expect(Set(identifiers).count == 5)
    }
}
