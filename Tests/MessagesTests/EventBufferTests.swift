import Testing

@testable import LinnetMessages

@Suite(.timeLimit(.minutes(1)))
struct EventBufferTests {
    /// Appends another element while it is released.
    private final class Element: Sendable {
        let buffer: EventBuffer<Element>?

        init(_ buffer: EventBuffer<Element>?) { self.buffer = buffer }

        deinit { buffer?.append(Element(nil)) }
    }

    @Test(arguments: [true, false])
    func anElementThatIsDroppedCanUseTheBuffer(isCoalescing: Bool) async {
        let replaces: @Sendable (Element, Element) -> Bool = { waiting, _ in waiting.buffer != nil }
        let buffer = EventBuffer<Element>(
            coalescing: isCoalescing ? replaces : nil, limit: isCoalescing ? .max : 1)
        buffer.append(Element(buffer))
        buffer.append(Element(nil))
        buffer.finish()
        // The last one is of the released element.
        var count = 0
        while await buffer.next() != nil { count += 1 }
        #expect(count == (isCoalescing ? 2 : 1))
        #expect(buffer.droppedCount == (isCoalescing ? 0 : 2))
    }
}
