/* What a program in C asks first: which levels of the kernel the library has, and which of them
 * this processor executes.
 *
 *     cc -I../src levels.c -L. -ls2s_kernels -o levels */
#include <stdio.h>
#include <string.h>

#include "dispatch.h"

int main(void)
{
    const char *best = s2s_kernel_best_level();
    char names[256], *name;
    if (!best) {
        puts("this processor executes no level of the kernel");
        return 1;
    }
    strncpy(names, s2s_kernel_levels(), sizeof names - 1);
    names[sizeof names - 1] = 0;
    for (name = strtok(names, " "); name; name = strtok(NULL, " "))
        if (s2s_kernel_executes(name) == 1) printf("%s ", name);
    printf("best %s, interface %d\n", best, s2s_kernel_interface());
    return 0;
}
