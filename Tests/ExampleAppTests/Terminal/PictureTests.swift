import LinnetImageSerialization
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct PictureTests {
    @Test func aCharacterShowsTwoPixels() throws {
        let (red, blue): ([UInt8], [UInt8]) = ([255, 0, 0, 255], [0, 0, 255, 255])
        let picture = try #require(Bitmap(width: 2, height: 2, pixels: red + red + blue + blue))
        let character = "\u{1B}[38;5;196;48;5;21m▀\u{1B}[0m"
        #expect(picture.halfBlocks(columns: 2, style: TextStyle(environment: [:])) == [character + character])
    }

    /// Each field of its pattern is one pixel.
    @Test func aPictureOfTheServerTakesThreeRows() throws {
        let picture = try #require(SampleAvatar.picture("ada"))
        let rows = picture.halfBlocks(columns: SampleAvatar.fields, style: TextStyle(environment: ["NO_COLOR": "1"]))
        #expect(rows == Array(repeating: "▀▀▀▀▀▀", count: 3))
    }
}
