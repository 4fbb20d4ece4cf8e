#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Returns the factor by which the time of some work grows when its size is doubled: 2 for linear, 4 for quadratic
/// work.
///
/// The time is the processor time of this thread, which other processes do not affect. Each size is measured several
/// times alternately, and the shortest time counts. A factor above the limit is measured again, up to 25 times, because
/// other processes affect the caches. Quadratic work stays at 4 in all measurements.
///
/// A release build measures larger inputs (`make scaling`): it is faster, and the optimizer can add copies that take
/// quadratic time.
///
/// - Parameters:
///   - count: The smaller size in a debug build. It should take some milliseconds. In a release build, the smaller size
///     is twenty times as large, and at least 100,000.
///   - most: The maximum of the smaller size, for inputs that have a limit of their own. The default is no limit.
///   - limit: The factor up to which no further measurement is needed. The default is 2.5.
///   - make: Creates the input of a given size; its time does not count.
///   - work: Performs the work.
public func growth<Input>(
    from count: Int, upTo most: Int = .max, limit: Double = 2.5, _ make: (Int) -> Input, _ work: (Input) throws -> Void
) rethrows -> Double {
    #if DEBUG
    let size = min(count, most)
    #else
    let size = min(max(20 * count, 100_000), most)
    #endif
    let inputs = [make(size), make(2 * size)]
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
        // Work that ends immediately, for example with an error, is too short to measure.
        least = min(least, times[1] / max(times[0], 20e-6))
    }
    return least
}

/// The processor time of this thread, in seconds, which other processes hardly affect.
public func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
