import ChromiumSupport
import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@testable import ExampleApp

/// The page in a browser.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Chromium.isInstalled, "chromium is not installed"))
@MainActor
struct ChromiumTests {
    @Test func theBrowserShowsTheTimelineAndItsKeysWork() async throws {
        try await withFolder { try await lookAtPage(in: $0) }
    }

    private func lookAtPage(in folder: URL) async throws {
        // A download takes half a minute, so that it is still running when its keys are pressed.
        let server = try await EmbeddedServer.start([.slow])
        let model = try await TimelineModel.make(for: server, in: folder, network: .notReachable)
        let page = TimelinePage(model)
        let pageServer = try await page.startServer()
        model.perform(.refresh, on: nil)
        let result: Result<Void, any Error>
        do {
            try await Chromium.open(pageServer.url) { try await look(at: &$0) }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await model.end()
        await pageServer.shutdown()
        await server.shutdown()
        try result.get()
    }

    private func look(at chromium: inout Chromium) async throws {
        try await chromium.wait(for: "document.querySelectorAll('#timeline > li').length === 20")
        // Each picture that arrives replaces the rows.
        try await chromium.wait(
            for: "document.images.length === 20 && [...document.images].every(image => image.naturalWidth === 96)")
        #expect(try await chromium.value(of: "document.querySelector('li h3').firstChild.data") == "ada")
        let pins = try await chromium.value(of: "document.getElementById('pins').textContent")
        #expect(pins?.contains("A pin of the policy matches") == true)
        let banner = try await chromium.value(of: "document.getElementById('banner').textContent")
        #expect(banner == "No network: not reachable")

        try await chromium.press("j")
        try await chromium.press("j")
        #expect(try await chromium.value(of: "document.activeElement.id") == "post-999")
        try await chromium.press("k")
        try await chromium.press("d")
        try await chromium.wait(for: "document.getElementById('transfer-figures').textContent.includes(' %')")
        try await chromium.press("s")
        try await chromium.wait(for: "document.getElementById('transfer-figures').textContent.includes('suspended')")
        if let file = ProcessInfo.processInfo.environment["LINNET_RECORD_PAGE"] {
            try await chromium.screenshot()?.write(to: URL(filePath: file))
        }
        try await chromium.press("c")
        try await chromium.wait(for: "document.getElementById('message').textContent.includes('cancelled')")
        try await chromium.dropFile(named: "notes.txt")
        try await chromium.wait(
            for: "document.getElementById('message').textContent.startsWith('notes.txt finished: status 201')")

        let line = "document.getElementById('code-pins')"
        #expect(try await chromium.value(of: "\(line).checkVisibility()") == "false")
        try await chromium.press("?")
        #expect(try await chromium.value(of: "\(line).checkVisibility()") == "true")
        #expect(try await chromium.value(of: "\(line).textContent") == TimelineEffect.pins.code)
        // Each control has a name for screen readers.
        let nameless =
            "[...document.querySelectorAll('button, progress')].filter(control => "
            + "!control.textContent && !control.ariaLabel && !control.getAttribute('aria-labelledby')).length"
        #expect(try await chromium.value(of: nameless) == "0")
    }
}

extension Chromium {
    /// Drops a file with a few bytes onto the page.
    fileprivate mutating func dropFile(named name: String) async throws {
        _ = try await value(
            of: """
                (() => {
                    const data = new DataTransfer();
                    data.items.add(new File(['text'], '\(name)'));
                    document.body.dispatchEvent(
                        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
                })()
                """)
    }

    /// Presses a key with a character.
    fileprivate mutating func press(_ key: String) async throws {
        _ = try await value(
            of: "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '\(key)', bubbles: true }))")
    }
}
