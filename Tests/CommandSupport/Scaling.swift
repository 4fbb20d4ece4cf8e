#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How the time of some work grows when there is twice as much of it: 2 for what is linear, 4 for what is quadratic.
///
/// The time is the processor's for this thread, so that other work on the machine does not count. Each size is measured
/// several times in turns, and the shortest counts; a growth beyond the limit is measured again, up to 25 times, since a
/// busy machine shares its caches, too. Quadratic work stays at 4 however often it is measured.
///
/// - Parameters:
///   - count: How much work there is at first. It should take some milliseconds.
///   - limit: A growth that needs no second look. The default is 2.5.
///   - make: Makes the input for so much work; its time does not count.
///   - work: Does the work.
public func growth<Input>(
    from count: Int, limit: Double = 2.5, _ make: (Int) -> Input, _ work: (Input) throws -> Void
) rethrows -> Double {
    let inputs = [make(count), make(2 * count)]
    var least = Double.infinity
    for _ in 0..<25 where least > limit {
        var times = [Double.infinity, .infinity]
        for _ in 0..<3 {
            for index in 0...1 {
                let start = processorTime()
                try work(inputs[index])
                times[index] = min(times[index], processorTime() - start)
            }
        }
        // What ends at once, with an error for instance, is over before a clock tells much.
        least = min(least, times[1] / max(times[0], 20e-6))
    }
    return least
}

/// The processor time of this thread, in seconds.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
