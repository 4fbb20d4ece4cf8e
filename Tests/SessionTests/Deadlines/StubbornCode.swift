import LinnetTesting

/// Code that ignores its cancellation until it is released.
final class StubbornCode: Sendable {
    let hasEntered = Signal()
    /// Fires when the code's task is cancelled.
    let isTold = Signal()
    let hasLeft = Signal()
    private let release = Signal()

    func run() async {
        await withTaskCancellationHandler {
            hasEntered.fire()
            let release = release
            await Task { await release.wait() }.value
        } onCancel: {
            isTold.fire()
        }
        hasLeft.fire()
    }

    /// Requires that the code was told, and lets it return.
    func end(isTold: Bool = true) async {
        if isTold { await self.isTold.wait() }
        release.fire()
        await hasLeft.wait()
    }
}
