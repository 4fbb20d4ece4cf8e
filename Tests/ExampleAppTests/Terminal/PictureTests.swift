import FoundationEssentials
import LinnetImageSerialization
import Testing

@testable import ExampleApp

@Suite(.timeLimit(.minutes(1)))
struct PictureTests {
    @Test func aCellShowsTwoPixels() throws {
        let picture = try #require(
            Bitmap(width: 1, height: 2, pixels: [255, 0, 0, 255, 0, 0, 255, 255]))
        var frame = ScreenBuffer(size: TerminalSize(width: 1, height: 1))
        HalfBlocks(picture, columns: 1, rows: 1).draw(x: 0, y: 0, shownRows: 1, on: &frame)
        #expect(frame[0, 0].text == "▀")
        #expect(frame[0, 0].style == Style(foreground: Color(255, 0, 0), background: Color(0, 0, 255)))
    }

    @Test func fieldsAreMeansAndTransparentPixelsAreBlack() throws {
        let pixels: [UInt8] = [200, 100, 0, 255, 100, 100, 0, 255, 255, 255, 255, 0, 255, 255, 255, 0]
        let picture = try #require(Bitmap(width: 2, height: 2, pixels: pixels))
        #expect(picture.average(0, of: 1, 0, of: 2) == Color(150, 100, 0))
        #expect(picture.average(0, of: 1, 1, of: 2) == Color(0, 0, 0))
        // A grid that is finer than the picture repeats its pixels.
        #expect(picture.average(5, of: 6, 0, of: 6) == Color(100, 100, 0))
    }

    @Test func aPictureForKittyIsSentInPieces() throws {
        let text = KittyGraphics.transmission(Data(repeating: 7, count: 7000), id: 3, columns: 6, rows: 3)
        let commands = text.split(separator: "\u{1B}\\").map(String.init)
        #expect(commands.count == 3)
        #expect(commands.first?.hasPrefix("\u{1B}_Ga=T,U=1,q=2,f=100,i=3,c=6,r=3,m=1;") == true)
        #expect(commands.last?.hasPrefix("\u{1B}_Gm=0;") == true)
        let base64 = commands.compactMap { $0.split(separator: ";").last }.joined()
        #expect(Data(base64Encoded: base64) == Data(repeating: 7, count: 7000))
    }

    @Test(arguments: [("_Gi=31;OK", true), ("_Gi=31;ENOENT", false), ("[?62;4c", false)])
    func theAnswerTellsWhetherTheTerminalHasTheProtocol(answer: String, isSupported: Bool) {
        #expect(KittyGraphics.isSupported(by: answer) == isSupported)
    }

    @Test func placeholdersNameTheirRowColumnAndPicture() {
        var frame = ScreenBuffer(size: TerminalSize(width: 3, height: 2))
        KittyGraphics.draw(id: 258, x: 1, y: 0, columns: 2, rows: 2, on: &frame)
        #expect(frame[2, 1].text == "\u{10EEEE}\u{030D}\u{030D}")
        #expect(frame[2, 1].style.foreground == Color(0, 1, 2))
        #expect(frame[0, 0] == .blank)
    }

    @Test func anUploadedPictureIsAReadableBitmap() throws {
        let picture = try #require(SampleAvatar.picture("ada"))
        let file = UploadPicture.file(picture)
        let decoded = try ImageDecoder().decode(file)
        #expect(decoded.width == picture.width * UploadPicture.scale)
        #expect(file.count > 3_000_000)
        for (column, row) in [(0, 0), (2, 1), (5, 5)] {
            #expect(decoded.average(column, of: 6, row, of: 6) == picture.average(column, of: 6, row, of: 6))
        }
    }
}
